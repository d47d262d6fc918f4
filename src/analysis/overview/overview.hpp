// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figures/busy.hpp"
#include "analysis/figures/communication.hpp"
#include "analysis/figures/coverage.hpp"
#include "analysis/figures/hardware_counters.hpp"
#include "analysis/figures/iterations.hpp"
#include "analysis/figures/kernel_groups.hpp"
#include "analysis/figures/latency.hpp"
#include "analysis/figures/memory_usage.hpp"
#include "analysis/figures/roofline.hpp"
#include "analysis/figures/scope_work.hpp"
#include "analysis/figures/stalls.hpp"
#include "analysis/figures/system_series.hpp"
#include "analysis/figures/transfers.hpp"
#include "analysis/math/figure.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"
#include "analysis/warp/warp_figures.hpp"

// Everything that a report shows of a session beside its SessionSummary. Plain data, made by
// analyze(); holds no reference to the session. What the session does not tell is unknown, with the
// reason.
namespace gpufl::analysis {

struct KernelFigures {
  std::vector<KernelGroup> by_name;
  // Empty at Depth::Summary.
  std::vector<KernelGroup> by_config, by_class, by_scope, by_stream, by_device;
  Figure<std::vector<KernelGroup>> by_line, by_api_call, by_op, by_module;
  uint64_t count = 0;
  int64_t total_ns = 0;  // durations, added up
  // Of the whole run, by id of Tables::names; unknown where all of it was recorded.
  Figure<std::map<uint32_t, KernelEstimate>> estimates;
};

struct Overview {
  AnalysisOptions options;
  int64_t recorded_ns = 0;  // how long work was recorded
  Coverage coverage;
  std::vector<DeviceBusy> devices;  // by number
  Figure<KernelFigures> kernels;    // unknown where no kernels were recorded
  // From here on nothing is there at Depth::Summary.
  std::vector<ScopeWork> scopes;
  std::optional<Unknown> lost_scopes;  // why there were more of them; none: nothing says so
  LaunchLatency latency;
  Figure<std::vector<ApiGroup>> api;
  Figure<std::vector<WaitGroup>> waits;
  TransferFigures transfers;
  Figure<std::vector<Communication>> communication;
  Figure<std::vector<MemoryUsage>> memory;
  std::vector<MetricFigures> metrics;
  std::vector<CounterFigures> counters;
  Figure<double> energy_joules;  // all GPUs, while recorded
  Figure<Iterations> iterations;
  Figure<StallFigures> stalls;
  std::vector<CountedRange> ranges;
  std::vector<SampledCounter> sampled_counters;
  Figure<Roofline> roofline;
  std::vector<WarpFigures> warps;  // of every launch whose inside was recorded
  // What makes figures above less than the whole truth: lost records, a session that was killed.
  std::vector<std::string> caveats;

  // Null: the session does not know it.
  const DeviceBusy* device(int64_t number) const;
};

Overview analyze(const SessionData& session, const AnalysisOptions& options = {});

}  // namespace gpufl::analysis
