// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/math/figure.hpp"
#include "analysis/math/stats.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"
#include "analysis/tables/wait_calls.hpp"

// What lies between a call and its kernel, and what calls cost the host. Kernels of graphs are not
// in the latencies: one call launches all of them. Pure functions.
namespace gpufl::analysis {

struct LaunchLatency {
  // Kernels that no graph launched. Those whose calls nobody saw begin or end are not in the
  // figures below, which may have fewer.
  uint64_t kernels = 0;
  Figure<Stats> launch_ns;  // from the start of the API call to the kernel's start
  Figure<Stats>
      queue_ns;  // from the call's end to the kernel's start; 0 where it began before that
  Figure<Stats> driver_ns;  // from the time the driver queued it to its start
};
LaunchLatency launch_latency(const SessionData& session, const AnalysisOptions& options);

// Kernels that began before they were asked for, as the log has it: clocks of host and GPU agree
// within microseconds only. They are in none of the latencies of calls.
uint64_t launched_too_late(const SessionData& session, const AnalysisOptions& options);

// Of one kernel: launch_ns as above; kNoTime where there is none, or one below zero.
int64_t launch_latency_of(const Kernels& kernels, size_t row);

// Calls of one function of the vendor's API, as far as they have rows: launches, copies, fills,
// waits, allocations, and all that failed.
struct ApiGroup {
  // "cudaMemcpyAsync", as a row of the call or the stack of the work tells; else what it does:
  // "copy".
  std::string function;
  uint64_t calls = 0;
  Stats duration_ns;  // of those whose begin and end are known, which may be fewer
  double share = 0;   // of the time of all calls
  uint64_t failed = 0;
};
// Most time first. Unknown where no call was timed and none failed.
Figure<std::vector<ApiGroup>> api_calls(const SessionData& session, const AnalysisOptions& options);

// Waits of the host, by kind of call; those of streams for events are none.
struct WaitGroup {
  std::string call;  // "StreamSynchronize"
  Stats blocked_ns;
};
// Most time first; empty: the host never waited.
Figure<std::vector<WaitGroup>> waits(const SessionData& session, const AnalysisOptions& options);

}  // namespace gpufl::analysis
