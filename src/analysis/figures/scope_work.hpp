// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/figures/scope_counters.hpp"
#include "analysis/figures/scope_figures.hpp"
#include "analysis/math/figure.hpp"
#include "analysis/math/stats.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"
#include "analysis/summary/activity.hpp"

// What happened inside of scopes: the work that was launched in them, wherever it ran later. All
// scopes with the same path of names and tags are one. Pure functions; time grows with rows times
// the depth of scopes.
namespace gpufl::analysis {

// Kernels of one name, or waits by one call, inside of a scope.
struct ScopeItem {
  std::string label;  // a short name; "StreamSynchronize"
  uint32_t key = 0;   // kernels: id of Tables::names; waits: format's `call`
  uint64_t count = 0;
  int64_t total_ns = 0;
};

// One path of scopes. How many there were and how long they took is in ScopeFigures.
struct ScopeWork : ScopeFigures {
  std::string name, tag;
  std::string path;                 // "train > step / 3"
  Stats duration_stats_ns;          // of the same scopes as duration_ns
  uint32_t parent = UINT32_MAX;     // index of the path around it; UINT32_MAX: outermost
  uint32_t depth = 0;               // paths around it
  uint32_t end = 0;                 // the paths inside of it are those from its index + 1 to this
  ActivityTotals own;               // launched with this scope as the innermost
  ActivityTotals total;             // with those inside
  int64_t busy_ns = 0;              // of `total`: a union for each device, these added up
  std::vector<ScopeItem> kernels;   // of `total`; options.top of them, most time first
  std::vector<ScopeItem> waits;     // likewise
  uint64_t kernel_names = 0;        // how many there are in all
  int64_t span_ns = 0;              // how long at least one such scope was open
  Figure<double> mean_launch_ns;    // mean launch latency of `total`
  Figure<double> iteration_gpu_ns;  // benchmark scopes: GPU time of `total` by iteration
  Figure<double> energy_joules;     // all GPUs, while such a scope was open
  ScopeCounters counters;           // those that grew, or may have grown; options.top unknown ones
};

// In order of a walk through the tree: every path is followed by those inside of it, these by their
// first start. Options' scope leaves out paths that neither match nor lie around or inside a match.
// Where the session records no GPU work, what is told of it is no figure: see Overview::kernels.
std::vector<ScopeWork> scope_work(const SessionData& session, const AnalysisOptions& options);

}  // namespace gpufl::analysis
