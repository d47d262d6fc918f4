// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/inherited_lines.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace gpufl::analysis {
namespace {

uint32_t stack_of(const Work& work, size_t row) {
  return work.stack.empty() ? kNoStack : work.stack[row];
}

}  // namespace

InheritedLines::InheritedLines(const SessionData& session) : session_(session) {
  const Tables& tables = session.tables;
  const Work* const all[] = {&tables.kernels,     &tables.copies, &tables.fills,    &tables.waits,
                             &tables.allocations, &tables.graphs, &tables.api_calls};
  std::unordered_set<uint32_t> seen = {kNoStack};
  for (const Work* work : all) {
    for (const uint32_t stack : work->stack) {
      if (!seen.insert(stack).second) continue;
      if (symbols::user_frame(session.code.frames(stack)) != nullptr) reaching_.insert(stack);
    }
  }
  if (reaching_.empty()) return;
  for (const Work* work : all) add(*work);
  for (Caller& caller : callers_) {
    std::vector<size_t> order(caller.times.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return caller.times[a] < caller.times[b]; });
    std::vector<int64_t> times;
    std::vector<uint32_t> stacks;
    for (const size_t i : order) {
      if (!stacks.empty() && stacks.back() == caller.stacks[i]) continue;
      times.push_back(caller.times[i]);
      stacks.push_back(caller.stacks[i]);
    }
    caller.last_ns = caller.times[order.back()];
    caller.times = std::move(times);
    caller.stacks = std::move(stacks);
  }
  find_changes();
}

int64_t InheritedLines::thread_of(const Work& work, size_t row) const {
  return session_.tables.callers[work.caller[row]].thread;
}

void InheritedLines::add(const Work& work) {
  for (size_t row = 0; row < work.rows(); ++row) {
    const uint32_t stack = stack_of(work, row);
    const int64_t thread = thread_of(work, row);
    if (thread == 0 || reaching_.count(stack) == 0) continue;
    const auto [place, is_new] = caller_of_thread_.try_emplace(thread, callers_.size());
    if (is_new) callers_.emplace_back().thread = thread;
    Caller& caller = callers_[place->second];
    caller.times.push_back(work.asked_at(row));
    caller.stacks.push_back(stack);
  }
}

// Between its first and its last call a thread is taken to have lines of the program on its stack.
// When that is true of none, the one that began before is: it may wait until the end.
void InheritedLines::find_changes() {
  struct Edge {
    int64_t time_ns;
    size_t caller;
    bool begins;
  };
  std::vector<Edge> edges;
  for (size_t i = 0; i < callers_.size(); ++i) {
    edges.push_back({callers_[i].times.front(), i, true});
    if (callers_[i].last_ns < INT64_MAX) edges.push_back({callers_[i].last_ns + 1, i, false});
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.time_ns < b.time_ns; });
  size_t begun = 0, within = 0;
  size_t sum = 0;  // of the numbers of those within: of one alone, its number
  for (size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    if (edge.begins) {
      ++begun;
      ++within;
      sum += edge.caller;
    } else {
      --within;
      sum -= edge.caller;
    }
    if (i + 1 < edges.size() && edges[i + 1].time_ns == edge.time_ns) continue;
    const size_t last_one = begun == 1 ? edges.front().caller : kNobody;
    changes_.push_back({edge.time_ns, within == 1 ? sum : within == 0 ? last_one : kNobody});
  }
}

const InheritedLines::Caller* InheritedLines::only_caller(int64_t time_ns) const {
  const auto later =
      std::upper_bound(changes_.begin(), changes_.end(), time_ns,
                       [](int64_t time, const Change& change) { return time < change.time_ns; });
  const size_t only = later == changes_.begin() ? kNobody : std::prev(later)->only;
  return only == kNobody ? nullptr : &callers_[only];
}

InheritedLine InheritedLines::at(const Work& work, size_t row) const {
  const uint32_t stack = stack_of(work, row);
  const InheritedLine own{&session_.code.site(stack), stack};
  if (stack == kNoStack || reaching_.count(stack) != 0) return own;
  const int64_t time_ns = work.asked_at(row);
  const Caller* const caller = only_caller(time_ns);
  if (caller == nullptr || caller->thread == thread_of(work, row)) return own;
  const auto later = std::upper_bound(caller->times.begin(), caller->times.end(), time_ns);
  const auto latest = static_cast<size_t>(later - caller->times.begin()) - 1;
  const uint32_t told = caller->stacks[latest];
  return {&session_.code.site(told), told, true};
}

}  // namespace gpufl::analysis
