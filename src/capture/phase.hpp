// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "capture/overhead_budget.hpp"
#include "capture/step_cost.hpp"
#include "format/ledger.hpp"
#include "format/log_writer.hpp"

// A phase in which the GPUs were recorded: a row of `coverage`, and what it cost.
namespace gpufl::capture {

struct Phase {
  std::string_view engine;  // a constant
  format::CoverageReason why = format::CoverageReason::Session;
  format::CoverageEnd ending = format::CoverageEnd::Session;
  int64_t begin_ns = 0, end_ns = 0;  // session time
  PhaseCost cost;
  int64_t pause_cost_ns = 0;  // of the pause before it, where something stayed attached in it
  format::CostMeasure measure = format::CostMeasure::Unknown;
  std::optional<uint64_t> launches;
  // The same with launches of graphs, and what the tracers had counted of these when it began.
  std::optional<uint64_t> launch_calls;
  uint64_t launch_calls_before = 0;

  int64_t attached_ns() const { return end_ns - begin_ns; }
};

// What a launch costs a program that is recorded, at least: the vendor's library does not report
// its own work in the launch. Measured on an H200 at 4.2 µs (a small GPT in PyTorch, 1,050 launches
// in a step of 23 ms, which takes 1.19 times as long).
inline constexpr int64_t kLaunchCost_ns = 5'000;
// And what it costs more while PC sampling is enabled, window or not: measured likewise at 0.2 to
// 0.6 µs.
inline constexpr int64_t kSampledLaunchCost_ns = 500;

// Windows of samples, so far.
struct SampledTime {
  uint64_t windows = 0;
  int64_t total_ns = 0;  // the length of those in which something ran
};

// What the program waited for while it was recorded, as its tracers count it: of several threads
// the sum, but neither part is more than the time that passed. Launches are held mostly while
// sampling begins and ends, so that counts as switching. Windows of samples in which something ran
// (`windows_ns` of them) cost about as much time as they take: 4.7 ms of 5 in a small GPT on an
// H200.
PhaseCost counted_cost(const format::Ledger& account, int64_t attached_ns, int64_t windows_ns);
// What it runs slower by its steps. The middle one has no window in it where fewer than half of the
// steps have: then windows are added.
int64_t step_cost_ns(const Slowdown& slowdown, int64_t attached_ns, const SampledTime& sampled);

void write_phase(const Phase& phase, format::LogWriter& log);

// What everybody gets who asks for one then.
base::Status session_ended();

}  // namespace gpufl::capture
