// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/framework_ops.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>

#include "format/columns.hpp"

namespace gpufl::analysis {
namespace {

constexpr std::string_view kOpDomain = "torch.op";
constexpr std::string_view kModuleDomain = "torch.module";
// The lowest byte of `category` of ranges in kOpDomain.
constexpr int64_t kOperator = 1, kBackward = 2;
int64_t kind_of(int64_t category) { return category & 0xff; }
// The rest: the framework's number of the thread that makes nodes, or has made the node. 0:
// unknown.
int64_t maker_thread_of(int64_t category) { return category >> 8; }
constexpr auto kPushPop = static_cast<uint8_t>(format::MarkerShape::PushPop);

}  // namespace

FrameworkOps::FrameworkOps(const SessionData& session) : tables_(session.tables) {
  const Markers& markers = tables_.markers;
  for (uint32_t row = 0; row < markers.rows(); ++row) {
    if (markers.domain[row] == 0 || markers.shape[row] != kPushPop) continue;
    const std::string& domain = tables_.name(markers.domain[row]);
    const bool is_op = domain == kOpDomain;
    if (!is_op && domain != kModuleDomain) continue;
    const int64_t end = saturating_add(markers.start[row], markers.duration[row]);
    if (stack_of(row) != 0) python_threads_.insert(markers.thread[row]);
    (is_op ? ops_ : modules_)[markers.thread[row]].list.push_back(
        {markers.start[row], end, row, kNone, kNone, kNoRow});
  }
  if (is_empty()) return;
  const Scopes& scopes = tables_.scopes;
  for (uint32_t row = 0; row < scopes.rows(); ++row) {
    scopes_[scopes.thread[row]].list.push_back(
        {scopes.start[row], scopes.end(row), row, kNone, kNone, kNoRow});
  }
  for (RangesOfThread* const threads : {&ops_, &modules_, &scopes_}) {
    for (auto& [thread, ranges] : *threads) ranges.nest();
  }
  find_makers();
  lead_back();
}

void FrameworkOps::Ranges::nest() {
  std::stable_sort(list.begin(), list.end(), [](const Range& a, const Range& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  std::vector<uint32_t> open;  // and below the last one, some that have ended
  const auto innermost = [&] { return open.empty() ? kNone : open.back(); };
  const auto close_before = [&](int64_t time_ns) {
    while (!open.empty() && list[open.back()].end < time_ns) {
      const int64_t end = list[open.back()].end;
      while (!open.empty() && list[open.back()].end <= end) open.pop_back();
      changes.push_back({end + 1, innermost()});
    }
  };
  for (uint32_t i = 0; i < list.size(); ++i) {
    Range& range = list[i];
    close_before(range.start);
    while (!open.empty() && list[open.back()].end <= range.start) open.pop_back();
    range.outer = innermost();
    if (range.end >= range.start) open.push_back(i);
    changes.push_back({range.start, innermost()});
  }
  close_before(INT64_MAX);
}

uint32_t FrameworkOps::Ranges::latest_at(int64_t time_ns) const {
  const auto later =
      std::upper_bound(list.begin(), list.end(), time_ns,
                       [](int64_t time, const Range& range) { return time < range.start; });
  return later == list.begin() ? kNone : static_cast<uint32_t>(later - list.begin() - 1);
}

uint32_t FrameworkOps::Ranges::innermost_at(int64_t time_ns) const {
  const auto later =
      std::upper_bound(changes.begin(), changes.end(), time_ns,
                       [](int64_t time, const Change& change) { return time < change.time_ns; });
  return later == changes.begin() ? kNone : std::prev(later)->innermost;
}

const FrameworkOps::Range* FrameworkOps::find(const RangesOfThread& threads, int64_t thread,
                                              int64_t time_ns) {
  const auto found = threads.find(thread);
  if (found == threads.end()) return nullptr;
  const uint32_t index = found->second.innermost_at(time_ns);
  return index != kNone ? &found->second.list[index] : nullptr;
}

// An operator tells the number of the next node that its thread would make: the nodes up to the
// next operator's number are its own. A thread that makes none, or only runs backward, has none.
void FrameworkOps::find_makers() {
  const Markers& markers = tables_.markers;
  for (const auto& [thread, ranges] : ops_) {
    for (const Range& range : ranges.list) {
      const double number = markers.payload[range.row];
      const int64_t category = markers.category[range.row];
      if (kind_of(category) != kOperator || !(number >= 0 && number < 0x1p53)) continue;
      const auto first = static_cast<int64_t>(number);
      std::vector<Maker>& makers = makers_[{thread, maker_thread_of(category)}];
      if (!makers.empty()) {
        makers.back().end_node = first;
        if (makers.back().first_node >= first) makers.pop_back();
      }
      makers.push_back({first, INT64_MAX, range.row});
    }
  }
  std::erase_if(makers_, [](const auto& entry) { return entry.second.size() < 2; });
  // Nobody comes after the last one: it has at least the node of its own number.
  for (auto& [thread, makers] : makers_) makers.back().end_node = makers.back().first_node + 1;
}

// Threads count for themselves. Where it is not known which made the node, and two have made one of
// that number, nobody can tell.
uint32_t FrameworkOps::maker_of(uint32_t backward_row) const {
  const double number = tables_.markers.payload[backward_row];
  const int64_t maker_thread = maker_thread_of(tables_.markers.category[backward_row]);
  uint32_t maker = kNoRow;
  for (const auto& [threads, makers] : makers_) {
    if (maker_thread != 0 && threads.second != maker_thread) continue;
    const auto later = std::upper_bound(
        makers.begin(), makers.end(), number,
        [](double node, const Maker& one) { return node < static_cast<double>(one.first_node); });
    if (later == makers.begin()) continue;
    const Maker& found = *std::prev(later);
    if (number >= static_cast<double>(found.end_node)) continue;
    if (tables_.markers.start[found.row] > tables_.markers.start[backward_row]) continue;
    if (maker != kNoRow) return kNoRow;
    maker = found.row;
  }
  return maker;
}

// What the engine does between two nodes, such as adding gradients up, is for the one before, and
// so are nodes that no operator made, such as those which keep the gradients of parameters: these
// have no number. One with a number has a maker of its own, also where nobody can tell which.
void FrameworkOps::lead_back() {
  for (auto& [thread, ranges] : ops_) {
    uint32_t forward = kNoRow;
    for (uint32_t i = 0; i < ranges.list.size(); ++i) {
      Range& range = ranges.list[i];
      const bool is_node = kind_of(tables_.markers.category[range.row]) == kBackward;
      const bool is_numbered = !std::isnan(tables_.markers.payload[range.row]);
      if (is_node && is_numbered) forward = maker_of(range.row);
      range.forward = forward;
      const uint32_t node_around = range.outer != kNone ? ranges.list[range.outer].node : kNone;
      range.node = is_node ? i : node_around;
    }
  }
}

void FrameworkOps::take_from_forward(uint32_t forward_row, FrameworkLabel& label) const {
  const Markers& markers = tables_.markers;
  const int64_t thread = markers.thread[forward_row];
  const int64_t time_ns = markers.start[forward_row];
  label.forward_op = markers.name[forward_row];
  if (stack_of(forward_row) != 0) label.stack = stack_of(forward_row);
  if (const Range* module = find(modules_, thread, time_ns)) {
    label.module = markers.name[module->row];
  }
  if (const Range* scope = find(scopes_, thread, time_ns)) label.forward_scope = scope->row;
}

FrameworkLabel FrameworkOps::at(const Work& work, size_t row) const {
  const Markers& markers = tables_.markers;
  const int64_t thread = tables_.callers[work.caller[row]].thread;
  const int64_t time_ns = work.asked_at(row);
  FrameworkLabel label;
  if (const Range* module = find(modules_, thread, time_ns)) {
    label.module = markers.name[module->row];
    label.stack = stack_of(module->row);
  }
  const auto found = ops_.find(thread);
  if (found == ops_.end()) return label;
  const Ranges& ranges = found->second;
  const uint32_t innermost = ranges.innermost_at(time_ns);
  uint32_t node = kNone;
  if (innermost != kNone) {
    node = ranges.list[innermost].node;
    const uint32_t op = ranges.list[innermost].row;
    label.op = markers.name[op];
    if (stack_of(op) != 0) label.stack = stack_of(op);
  }
  // A thread that runs no Python is the engine's own.
  if (node == kNone && python_threads_.count(thread) == 0) node = ranges.latest_at(time_ns);
  if (node == kNone) return label;
  const uint32_t forward = ranges.list[node].forward;
  label.is_backward =
      forward != kNoRow || kind_of(markers.category[ranges.list[node].row]) == kBackward;
  if (forward != kNoRow) take_from_forward(forward, label);
  return label;
}

}  // namespace gpufl::analysis
