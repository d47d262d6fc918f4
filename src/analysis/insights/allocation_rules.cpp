// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/insights/rules.hpp"
#include "analysis/math/stats.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

// Calls that allocate or release at one place.
struct Allocator {
  std::string function, scope;
  const CodeSite* site = nullptr;
  Intervals calls;
  int64_t device = -1;
};
using Allocators = std::map<std::tuple<std::string, std::string, std::string>, Allocator>;

bool allocates(std::string_view function) {
  const bool is_memory = function.find("Alloc") != std::string_view::npos ||
                         function.find("Malloc") != std::string_view::npos ||
                         function.find("Free") != std::string_view::npos;
  // Those that take from a pool in stream order hold up nobody.
  return is_memory && function.find("Async") == std::string_view::npos;
}

void add_call(const SessionView& view, const Work& work, size_t row, std::string function,
              Interval span, Allocators& allocators) {
  const CodeSite& site = view.site_of(work, row);
  const std::string& scope = view.scope_of(work, row);
  Allocator& allocator = allocators[{site.text, scope, function}];
  allocator.site = &site;
  allocator.scope = scope;
  allocator.function = std::move(function);
  allocator.device = view.device_or_busiest(work, row);
  allocator.calls.push_back(span);
}

Allocators allocators(const SessionView& view) {
  Allocators result;
  const ApiCalls& calls = view.tables.api_calls;
  for (size_t row = 0; row < calls.rows(); ++row) {
    const std::string& function = view.tables.name(calls.name[row]);
    if (!allocates(function) || !view.selection.includes(calls, row)) continue;
    add_call(view, calls, row, function, {calls.start[row], calls.end(row)}, result);
  }
  if (!result.empty()) return result;
  // A log that has allocations and not the calls behind them.
  const Allocations& rows = view.tables.allocations;
  for (size_t row = 0; row < rows.rows(); ++row) {
    const auto call = view.call_of(rows, row);
    if (!call || is_set(rows.async, row) || !view.selection.includes(rows, row)) continue;
    const bool is_release =
        rows.operation[row] == static_cast<uint8_t>(format::MemoryOperation::Release);
    add_call(view, rows, row, is_release ? "release" : "allocation", call->span, result);
  }
  return result;
}

// Before the first launch nothing loops, and the first call of all also makes the GPU's context.
void leave_out_start(const SessionView& view, Allocator& allocator) {
  const std::vector<int64_t>& launches = view.launches();
  std::erase_if(allocator.calls, [&](const Interval& call) {
    return launches.empty() || call.start < launches.front();
  });
}

bool is_in_loop(const SessionView& view, const Allocator& allocator) {
  const std::vector<int64_t>& launches = view.launches();
  std::vector<int64_t> between;
  for (size_t i = 0; i + 1 < allocator.calls.size(); ++i) {
    const auto from = std::lower_bound(launches.begin(), launches.end(), allocator.calls[i].start);
    const auto to = std::lower_bound(from, launches.end(), allocator.calls[i + 1].start);
    between.push_back(to - from);
  }
  return !between.empty() && stats_of(std::span(between)).median >= 1;
}

}  // namespace

void find_allocation_in_loop(const SessionView& view, std::vector<Insight>& found) {
  const auto& limits = view.thresholds.allocation_in_loop;
  for (auto& [key, allocator] : allocators(view)) {
    leave_out_start(view, allocator);
    if (static_cast<double>(allocator.calls.size()) < limits.min_calls) continue;
    if (!is_in_loop(view, allocator)) continue;
    double took = 0, idle = 0;
    Intervals calls;  // several threads may be inside of them at once
    for (const Interval& call : allocator.calls) {
      took += static_cast<double>(call.length());
      add_in_order(calls, call.start, call.end);
    }
    for (const Interval& inside : calls) {
      idle += static_cast<double>(view.idle(allocator.device).idle_ns(inside));
    }
    if (took < limits.min_share * static_cast<double>(view.wall_ns)) continue;
    Insight insight;
    set_gain(insight, idle, view.wall_ns, view.thresholds);
    const std::string place =
        allocator.site->text.empty() ? allocator.scope : short_line(*allocator.site);
    insight.title = fmt::format("Allocation in a loop: {} × {}{} · {}", allocator.function,
                                allocator.calls.size(), place.empty() ? "" : " @ " + place,
                                text::duration(took));
    insight.detail = fmt::format(
        "{} of {} with kernels launched between them took {}; meanwhile the GPU was idle for {}",
        text::plural(allocator.calls.size(), "call"), allocator.function, text::duration(took),
        text::duration(idle));
    insight.advice =
        "Allocate before the loop and reuse the memory, or take it from a pool: cudaMallocAsync, "
        "PyTorch's caching allocator. cudaFree also waits for the whole GPU.";
    insight.estimate = "The time inside these calls in which the GPU was idle.";
    insight.confidence = Confidence::Medium;
    const auto longest = std::max_element(
        allocator.calls.begin(), allocator.calls.end(),
        [](const Interval& a, const Interval& b) { return a.length() < b.length(); });
    Evidence evidence = at_site(
        *allocator.site,
        fmt::format("the longest took {}", text::duration(static_cast<double>(longest->length()))));
    evidence.scope = allocator.scope;
    evidence.device = allocator.device;
    evidence.start_ns = allocator.calls.front().start;
    evidence.end_ns = allocator.calls.back().end;
    insight.evidence.push_back(std::move(evidence));
    found.push_back(std::move(insight));
  }
}

}  // namespace gpufl::analysis
