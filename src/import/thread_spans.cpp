// SPDX-License-Identifier: Apache-2.0
#include "import/thread_spans.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace gpufl::importing {
namespace {

// The last element of `list` whose time is not after `time`; null: there is none.
template <typename Element>
const Element* last_until(const std::vector<Element>& list, int64_t time) {
  const auto after =
      std::upper_bound(list.begin(), list.end(), time,
                       [](int64_t at, const Element& element) { return at < element.time; });
  return after == list.begin() ? nullptr : &*(after - 1);
}

}  // namespace

ThreadSpans::ThreadSpans(const std::vector<Span>& spans)
    : parents_(spans.size(), kNone), depths_(spans.size()) {
  std::vector<uint32_t> order(spans.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const Span &x = spans[a], &y = spans[b];
    // Of those that begin together the longest is around the others.
    return std::tuple(x.thread, x.start, -x.duration, a) <
           std::tuple(y.thread, y.start, -y.duration, b);
  });
  for (size_t from = 0; from < order.size();) {
    size_t to = from;
    while (to < order.size() && spans[order[to]].thread == spans[order[from]].thread) ++to;
    nest(spans, order.data() + from, order.data() + to);
    from = to;
  }
  find_only_threads();
}

void ThreadSpans::nest(const std::vector<Span>& spans, const uint32_t* begin, const uint32_t* end) {
  const auto end_of = [&](uint32_t span) { return spans[span].start + spans[span].duration; };
  std::vector<Change>& changes = changes_[spans[*begin].thread];
  std::vector<uint32_t> open;
  const auto close_until = [&](int64_t time) {
    while (!open.empty() && end_of(open.back()) <= time) {
      const int64_t when = end_of(open.back());
      // One that a span inside of it outlives is over by then, too.
      while (!open.empty() && end_of(open.back()) <= when) open.pop_back();
      changes.push_back({when, open.empty() ? kNone : open.back()});
    }
  };
  for (const uint32_t* at = begin; at != end; ++at) {
    close_until(spans[*at].start);
    if (!open.empty()) {
      parents_[*at] = open.back();
      depths_[*at] = depths_[open.back()] + 1;
    }
    open.push_back(*at);
    changes.push_back({spans[*at].start, *at});
  }
  close_until(INT64_MAX);
}

void ThreadSpans::find_only_threads() {
  struct Edge {
    int64_t time;
    int64_t thread;
    bool begins;
  };
  std::vector<Edge> edges;
  for (const auto& [thread, changes] : changes_) {
    bool had_any = false;
    for (const Change& change : changes) {
      const bool has_any = change.span != kNone;
      if (has_any != had_any) edges.push_back({change.time, thread, has_any});
      had_any = has_any;
    }
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::tuple(a.time, a.begins, a.thread) < std::tuple(b.time, b.begins, b.thread);
  });
  int64_t threads = 0, sum_of_ids = 0;
  for (const Edge& edge : edges) {
    threads += edge.begins ? 1 : -1;
    sum_of_ids += edge.begins ? edge.thread : -edge.thread;
    turns_.push_back({edge.time, sum_of_ids, threads == 1});
  }
}

uint32_t ThreadSpans::at(int64_t thread, int64_t time) const {
  const auto found = changes_.find(thread);
  if (found == changes_.end()) return kNone;
  const Change* change = last_until(found->second, time);
  return change != nullptr ? change->span : kNone;
}

uint32_t ThreadSpans::only_at(int64_t time) const {
  const Turn* turn = last_until(turns_, time);
  return turn != nullptr && turn->is_only ? at(turn->thread, time) : kNone;
}

}  // namespace gpufl::importing
