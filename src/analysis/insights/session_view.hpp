// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figures/gaps.hpp"
#include "analysis/figures/kernel_groups.hpp"
#include "analysis/figures/scope_work.hpp"
#include "analysis/insights/thresholds.hpp"
#include "analysis/math/intervals.hpp"
#include "analysis/overview/overview.hpp"
#include "analysis/session/scope_paths.hpp"
#include "analysis/session/selection.hpp"
#include "analysis/session/session_data.hpp"

// What rules look at: a session, its figures, and what several rules need of both, made when it is
// first asked for. Only what the overview's options choose is in it. One thread.
namespace gpufl::analysis {

// The pauses of one GPU, with sums for any span of time.
class DeviceIdle {
 public:
  explicit DeviceIdle(GapList gaps);
  const GapList& gaps() const { return gaps_; }
  int64_t idle_ns(Interval span) const;

 private:
  int64_t idle_before(int64_t time_ns) const;

  static constexpr size_t kStride = 64;

  GapList gaps_;
  std::vector<int64_t> sums_;  // of the lengths of the gaps before every 64th
};

// The call behind a row of work.
struct HostCall {
  int64_t thread = 0;
  Interval span;  // empty where nobody saw its end
  bool has_end = true;
};

class SessionView {
 public:
  SessionView(const SessionData& session, const Overview& overview, const Thresholds& thresholds);

  const SessionData& session;
  const Tables& tables;
  const Overview& overview;
  const Thresholds& thresholds;
  // How long work was recorded: what shares are of. At least 1.
  const int64_t wall_ns;
  // What that is called: "session", or "what was recorded" where that is only a part of it.
  const std::string_view whole;

  const Selection selection;  // rows that the overview's options ask for

  int64_t device_of(const Work& work, size_t row) const {
    return tables.lanes[work.lane[row]].device;
  }
  int64_t thread_of(const Work& work, size_t row) const {
    return tables.callers[work.caller[row]].thread;
  }
  // None: the log does not tell when it began.
  std::optional<HostCall> call_of(const Work& work, size_t row) const;
  static uint32_t stack_of(const Work& work, size_t row) {
    return work.stack.empty() ? 0 : work.stack[row];
  }
  const CodeSite& site_of(const Work& work, size_t row) const {
    return session.code.site(stack_of(work, row));
  }
  const Work& work(WorkKind kind) const;
  // A node of a graph, which one call launches with all others.
  bool is_of_graph(size_t kernel_row) const {
    const Kernels& kernels = tables.kernels;
    return (!kernels.graph.empty() && kernels.graph[kernel_row] != 0) ||
           (!kernels.graph_node.empty() && kernels.graph_node[kernel_row] != 0);
  }
  // The kernel's short name.
  const std::string& kernel_label(size_t kernel_row) const;
  // "train > step"; empty: launched in none.
  const std::string& scope_of(const Work& work, size_t row) const;

  // Empty for a device that did nothing. Where a scope is chosen, the pauses that its work ended.
  const DeviceIdle& idle(int64_t device) const;
  // Whether the work that ended the pause had been asked for before it began, so that the pause is
  // the GPU's own. False where the log has no times of calls.
  bool was_queued(const Gap& gap) const;
  // What is left between two pieces of work that were asked for in time: the median of those of the
  // device; launch_bound.graph_node_gap_us where it has too few.
  double queued_pause_ns(int64_t device) const;
  // What recording itself took of each call that it watched, on the thread that made the call: what
  // was measured there, and insights.vendor_call_us for the vendor's library, which nobody can
  // measure from inside. 0 where nothing was measured.
  double recording_ns_per_call() const;
  // Of all work of the device, whatever scope is chosen.
  const Intervals& kernel_spans(int64_t device) const;
  // The device that `work` ran on or waited for; where the log does not say, the busiest.
  int64_t device_or_busiest(const Work& work, size_t row) const;
  // When each launch was asked for, in order; one for all kernels of the same call.
  const std::vector<int64_t>& launches() const;
  // What a `device` line says; none: nothing.
  std::optional<int64_t> fact(int64_t device, std::string_view name) const;
  std::string_view vendor(int64_t device) const;  // empty: unknown

 private:
  double find_queued_pause_ns(int64_t device) const;

  std::shared_ptr<const ScopePaths> scope_paths_;
  mutable std::map<int64_t, DeviceIdle> idle_;
  mutable bool has_idle_ = false;
  mutable std::map<int64_t, double> queued_pauses_ns_;
  mutable std::map<int64_t, Intervals> kernel_spans_;
  mutable std::optional<std::vector<int64_t>> launches_;
};

}  // namespace gpufl::analysis
