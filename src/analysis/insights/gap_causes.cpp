// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/gap_causes.hpp"

#include <algorithm>
#include <utility>

#include "analysis/insights/loop_syncs.hpp"
#include "analysis/tables/wait_calls.hpp"

namespace gpufl::analysis {

std::string_view to_string(GapCause cause) {
  switch (cause) {
    case GapCause::Wait: return "waiting in a sync";
    case GapCause::LaunchBound: return "launch-bound host";
    case GapCause::Copy: return "host inside a copy";
    case GapCause::Call: return "host inside another API call";
    case GapCause::HostCode: return "host code with no recorded API call";
    case GapCause::Queued: return "queued work that could not start";
    case GapCause::Graph: return "inside a graph";
    case GapCause::Unknown: break;
  }
  return "unknown cause";
}

GapExplainer::GapExplainer(const SessionView& view) : view_(view) {
  const Figure<Stats>& latency = view.overview.latency.launch_ns;
  if (latency) shortest_latency_ns_ = std::max<int64_t>(0, latency->min);
  const Waits& waits = view.tables.waits;
  for (size_t row = 0; row < waits.rows(); ++row) {
    if (!holds_host(waits, row)) continue;
    waits_[view.thread_of(waits, row)].push_back(
        {{waits.start[row], waits.end(row)}, static_cast<uint32_t>(row)});
  }
  const Copies& copies = view.tables.copies;
  for (size_t row = 0; row < copies.rows(); ++row) {
    const auto call = view.call_of(copies, row);
    if (call) copy_calls_[call->thread].push_back({call->span, static_cast<uint32_t>(row)});
  }
  const ApiCalls& calls = view.tables.api_calls;
  for (size_t row = 0; row < calls.rows(); ++row) {
    other_calls_[view.thread_of(calls, row)].push_back(
        {{calls.start[row], calls.end(row)}, SessionView::stack_of(calls, row)});
  }
  const Allocations& allocations = view.tables.allocations;
  for (size_t row = 0; row < allocations.rows(); ++row) {
    const auto call = view.call_of(allocations, row);
    if (!call) continue;
    other_calls_[call->thread].push_back({call->span, SessionView::stack_of(allocations, row)});
  }
  for (ByThread* const by_thread : {&copy_calls_, &other_calls_}) {
    for (auto& [thread, list] : *by_thread) {
      std::sort(list.begin(), list.end(), [](const Span& a, const Span& b) {
        return a.time.start != b.time.start ? a.time.start < b.time.start : a.time.end > b.time.end;
      });
    }
  }
  // Calls make calls of their own (cudaMalloc calls cuMemAlloc): the outermost are enough.
  for (auto& [thread, list] : other_calls_) {
    std::vector<Span> outermost;
    for (const Span& span : list) {
      if (outermost.empty() || span.time.end > outermost.back().time.end) outermost.push_back(span);
    }
    list = std::move(outermost);
  }
}

const GapExplainer::Span* GapExplainer::find(const ByThread& spans, int64_t thread, int64_t after,
                                             int64_t before) {
  const auto of_thread = spans.find(thread);
  if (of_thread == spans.end()) return nullptr;
  const std::vector<Span>& list = of_thread->second;
  const auto next = std::partition_point(list.begin(), list.end(),
                                         [&](const Span& s) { return s.time.start < before; });
  return next == list.begin() || (next - 1)->time.end <= after ? nullptr : &*(next - 1);
}

const GapExplainer::Span* GapExplainer::longest_of_most(int64_t thread, Interval window) const {
  const auto of_thread = other_calls_.find(thread);
  if (of_thread == other_calls_.end()) return nullptr;
  const std::vector<Span>& list = of_thread->second;
  auto next = std::partition_point(list.begin(), list.end(),
                                   [&](const Span& s) { return s.time.start < window.end; });
  const Span* longest = nullptr;
  int64_t inside = 0;
  while (next != list.begin() && (--next)->time.end > window.start) {
    inside += std::min(next->time.end, window.end) - std::max(next->time.start, window.start);
    if (longest == nullptr || next->time.length() > longest->time.length()) longest = &*next;
  }
  return inside * 2 > window.length() ? longest : nullptr;
}

ExplainedGap GapExplainer::explain(const Gap& gap) const {
  const auto& limits = view_.thresholds.idle_gaps;
  const Work& after = view_.work(gap.after.kind);
  ExplainedGap result;
  result.stack = SessionView::stack_of(after, gap.after.row);

  const Kernels& kernels = view_.tables.kernels;
  const bool is_between_kernels =
      gap.before.kind == WorkKind::Kernel && gap.after.kind == WorkKind::Kernel;
  if (is_between_kernels && view_.is_of_graph(gap.after.row) && !kernels.correlation.empty() &&
      kernels.correlation[gap.before.row] == kernels.correlation[gap.after.row]) {
    result.cause = GapCause::Graph;
    return result;
  }
  const auto call = view_.call_of(after, gap.after.row);
  if (!call) return result;

  const int64_t launched = call->span.start;
  const int64_t idle_from = gap.span.start;
  // Work that was asked for earlier than a launch takes could have started.
  if (static_cast<double>(idle_from - launched - shortest_latency_ns_) > limits.queued_us * 1e3) {
    result.cause = GapCause::Queued;
    return result;
  }
  const auto is_long = [&](int64_t length) {
    return static_cast<double>(length) > limits.host_code_us * 1e3;
  };
  int64_t free_from = idle_from;  // of the thread
  if (const Span* wait = find(waits_, call->thread, idle_from, launched)) {
    // What follows a wait is its fault, too: the host could not prepare it before. Unless that
    // takes long by itself.
    if (!is_long(launched - wait->time.end)) {
      result.cause = GapCause::Wait;
      result.stack = SessionView::stack_of(view_.tables.waits, wait->row);
      return result;
    }
    free_from = wait->time.end;
  }
  const int64_t call_end = std::min(std::max(call->span.end, launched), gap.span.end);
  if (gap.after.kind == WorkKind::Copy &&
      (call_end - std::max(launched, idle_from)) * 2 > gap.span.length()) {
    result.cause = GapCause::Copy;
    return result;
  }
  if (const Span* copy = find(copy_calls_, call->thread, idle_from, launched)) {
    const int64_t inside = copy->time.end - std::max(copy->time.start, idle_from);
    if (inside * 2 > gap.span.length()) {
      result.cause = GapCause::Copy;
      result.stack = SessionView::stack_of(view_.tables.copies, copy->row);
      return result;
    }
  }
  if (!is_long(launched - free_from)) {
    result.cause = GapCause::LaunchBound;
    return result;
  }
  if (const Span* call_inside = longest_of_most(call->thread, {free_from, launched})) {
    result.cause = GapCause::Call;
    result.stack = call_inside->row;
    return result;
  }
  result.cause = GapCause::HostCode;
  return result;
}

}  // namespace gpufl::analysis
