// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/figures/gaps.hpp"
#include "analysis/math/intervals.hpp"
#include "analysis/math/series.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// How busy each GPU was. Times are unions, so what runs side by side counts once and no share is
// above 1. One pass over the rows, in order of time; memory does not grow with them.
namespace gpufl::analysis {

// Kernels that ran at the same time.
struct Concurrency {
  double mean = 0;  // while at least one ran
  uint32_t max = 0;
  int64_t one_ns = 0, two_ns = 0, more_ns = 0;  // time with 1, 2, 3 or more of them
};

// Where the session records no GPU work, as Overview::kernels tells, only the first two are known.
struct DeviceBusy {
  int64_t device = -1;  // -1: the log does not say which
  std::string name;     // "NVIDIA H200"; empty: unknown
  // Rows, and their durations added up as they are.
  uint64_t kernels = 0, copies = 0, fills = 0, graphs = 0;
  int64_t kernel_sum_ns = 0, copy_sum_ns = 0, fill_sum_ns = 0;
  // Unions: of everything, and of each kind alone.
  int64_t busy_ns = 0, kernel_ns = 0, copy_ns = 0, fill_ns = 0, graph_ns = 0;
  int64_t recorded_ns = 0;            // how long work was recorded; pauses are not in it
  double busy_share = 0;              // busy_ns of recorded_ns
  int64_t first_ns = 0, last_ns = 0;  // from the first work's start to the last one's end
  // Recorded time before the first work and after the last. With busy_ns and all idle time they are
  // recorded_ns, but for what touches time that was not recorded, and where a scope is asked for.
  int64_t before_ns = 0, after_ns = 0;
  Concurrency concurrency;
  IdleTime idle;
  // Share of time busy, without parts of which nothing is known; empty at Depth::Summary.
  Series busy_series;
};

// Every device that did any work, or that the session names, by number.
std::vector<DeviceBusy> busy_times(const SessionData& session, const AnalysisOptions& options);

// When the device did any of these; for those who need more than totals. Memory grows with gaps.
struct WorkKinds {
  bool kernels = true, copies = true, fills = true, graphs = true;
};
Intervals busy_intervals(const SessionData& session, int64_t device,
                         const AnalysisOptions& options = {}, WorkKinds kinds = {});

}  // namespace gpufl::analysis
