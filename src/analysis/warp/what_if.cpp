// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/what_if.hpp"

#include <algorithm>

#include "analysis/math/saturating.hpp"
#include "analysis/warp/block_flow.hpp"

namespace gpufl::analysis {
namespace {

enum class Doing : uint8_t { Work, Wait, Nothing };

// A stretch of a lane. Times are since the block's begin.
struct Node {
  double start = 0, end = 0;
  Doing doing = Doing::Nothing;
  size_t first_edge = 0, last_edge = 0;  // what ends it: of a wait
  double own = 0;                        // of a wait: what it takes after that
};

// An end within a lane that a wait waits for.
struct Edge {
  size_t lane = 0, node = 0;  // of the block; of the lane
  double time = 0;
};

struct Wait {
  size_t lane = 0, node = 0;  // of the capture; of the lane
  size_t span = 0;
};

struct LaneRun {
  size_t done = 0;  // nodes
  double now = 0;
  std::vector<double> start, end;  // of the nodes that are done
};

class BlockRun {
 public:
  explicit BlockRun(const WarpCapture& capture) : capture_(capture), flow_(capture) {}

  void start_block(size_t first, size_t last) {
    flow_.start_block(first, last);
    nodes_.assign(last - first, {});
    edges_.clear();
    waits_.clear();
    for (size_t lane = first; lane < last; ++lane) add_nodes(lane);
    for (const Wait& wait : waits_) add_edges(wait);
  }

  double length(const WhatIf& what) {
    runs_.assign(nodes_.size(), {});
    for (size_t lane = 0; lane < nodes_.size(); ++lane) {
      runs_[lane].now = since_begin(capture_.lanes[flow_.first() + lane].extent.start);
    }
    for (;;) {
      bool has_moved = false;
      for (size_t lane = 0; lane < nodes_.size(); ++lane) {
        while (can_go_on(lane)) {
          run_next(lane, what);
          has_moved = true;
        }
      }
      if (has_moved) continue;
      // Stamps that contradict each other can make lanes wait in a circle: the first goes on.
      const size_t first = first_waiting();
      if (first == nodes_.size()) break;
      run_next(first, what);
    }
    double length = 0;
    for (const LaneRun& run : runs_) length = std::max(length, run.now);
    return length;
  }

 private:
  double since_begin(int64_t time) const {
    return static_cast<double>(saturating_subtract(time, flow_.begin()));
  }

  void add_nodes(size_t lane) {
    std::vector<Node>& nodes = nodes_[lane - flow_.first()];
    const Interval& extent = capture_.lanes[lane].extent;
    double now = since_begin(extent.start);
    const auto add_until = [&](double end, Doing doing) {
      nodes.push_back({now, end, doing});
      now = end;
    };
    for (const Segment& segment : flow_.segments(lane)) {
      if (since_begin(segment.start) > now) add_until(since_begin(segment.start), Doing::Nothing);
      const bool is_wait = capture_.events[capture_.spans[segment.span].event].is_wait;
      add_until(since_begin(segment.end), is_wait ? Doing::Wait : Doing::Work);
      if (flow_.ends_wait(segment)) waits_.push_back({lane, nodes.size() - 1, segment.span});
    }
    if (since_begin(extent.end) > now) add_until(since_begin(extent.end), Doing::Nothing);
  }

  void add_edges(const Wait& wait) {
    Node& node = nodes_[wait.lane - flow_.first()][wait.node];
    node.first_edge = edges_.size();
    double released = node.start;
    for (const Release& release : flow_.releases_of(capture_.spans[wait.span], wait.lane)) {
      const double time = since_begin(release.time);
      const size_t lane = release.lane - flow_.first();
      const auto at =
          std::lower_bound(nodes_[lane].begin(), nodes_[lane].end(), time,
                           [](const Node& each, double until) { return each.end < until; });
      if (at == nodes_[lane].end()) continue;
      released = std::max(released, time);
      edges_.push_back({lane, static_cast<size_t>(at - nodes_[lane].begin()), time});
    }
    node.last_edge = edges_.size();
    node.own = node.end - released;
  }

  bool is_done(const Edge& edge) const { return edge.node < runs_[edge.lane].done; }

  bool can_go_on(size_t lane) const {
    if (runs_[lane].done == nodes_[lane].size()) return false;
    const Node& node = nodes_[lane][runs_[lane].done];
    return std::all_of(edges_.begin() + static_cast<std::ptrdiff_t>(node.first_edge),
                       edges_.begin() + static_cast<std::ptrdiff_t>(node.last_edge),
                       [this](const Edge& edge) { return is_done(edge); });
  }

  size_t first_waiting() const {
    size_t first = nodes_.size();
    for (size_t lane = 0; lane < nodes_.size(); ++lane) {
      if (runs_[lane].done == nodes_[lane].size()) continue;
      const auto end = [&](size_t each) { return nodes_[each][runs_[each].done].end; };
      if (first == nodes_.size() || end(lane) < end(first)) first = lane;
    }
    return first;
  }

  // When the other lane now comes to where this end was.
  double time_of(const Edge& edge) const {
    const Node& node = nodes_[edge.lane][edge.node];
    const double start = runs_[edge.lane].start[edge.node], end = runs_[edge.lane].end[edge.node];
    if (node.end == edge.time) return end;
    return start + (edge.time - node.start) / (node.end - node.start) * (end - start);
  }

  void run_next(size_t lane, const WhatIf& what) {
    LaneRun& run = runs_[lane];
    const Node& node = nodes_[lane][run.done];
    const uint32_t group = capture_.lanes[flow_.first() + lane].group;
    const bool is_instant = std::find(what.instant_groups.begin(), what.instant_groups.end(),
                                      group) != what.instant_groups.end();
    const double start = run.now;
    double end = start + node.end - node.start;
    if (node.doing == Doing::Wait && node.first_edge < node.last_edge) {
      end = start;
      for (size_t i = node.first_edge; i < node.last_edge; ++i) {
        const Edge& edge = edges_[i];
        // In a circle: as long after this lane as it was.
        end = std::max(end, is_done(edge) ? time_of(edge) : start + edge.time - node.start);
      }
      end = std::max(start, end + node.own);
    } else if ((is_instant && node.doing == Doing::Work) ||
               (what.has_no_bubbles && node.doing == Doing::Nothing)) {
      end = start;
    }
    run.start.push_back(start);
    run.end.push_back(end);
    run.now = end;
    run.done += 1;
  }

  const WarpCapture& capture_;
  BlockFlow flow_;
  std::vector<std::vector<Node>> nodes_;  // by lane of the block
  std::vector<Wait> waits_;
  std::vector<Edge> edges_;
  std::vector<LaneRun> runs_;
};

}  // namespace

std::vector<double> lengths_if(const WarpCapture& capture, std::span<const WhatIf> cases) {
  std::vector<double> lengths(cases.size());
  BlockRun block(capture);
  capture.for_each_block([&](size_t first, size_t last) {
    block.start_block(first, last);
    for (size_t i = 0; i < cases.size(); ++i) lengths[i] += block.length(cases[i]);
  });
  return lengths;
}

}  // namespace gpufl::analysis
