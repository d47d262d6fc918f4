// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/critical_path.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/math/saturating.hpp"
#include "analysis/warp/block_flow.hpp"

namespace gpufl::analysis {
namespace {

class PathWalk {
 public:
  explicit PathWalk(const WarpCapture& capture)
      : capture_(capture), flow_(capture), group_ns_(capture.groups.size()) {}

  CriticalPath walk() {
    capture_.for_each_block([&](size_t first, size_t last) { walk_block(first, last); });
    for (const auto& [key, length] : lengths_) {
      path_.parts.push_back({key.first, key.second, length});
    }
    std::stable_sort(path_.parts.begin(), path_.parts.end(),
                     [](const auto& a, const auto& b) { return a.length_ns > b.length_ns; });
    return std::move(path_);
  }

 private:
  void add(uint32_t event, int64_t from) {
    const int64_t length = now_ - from;
    if (length <= 0) return;
    int64_t& sum = lengths_[{capture_.lanes[lane_].group, event}];
    sum = saturating_add(sum, length);
    int64_t& of_group = group_ns_[capture_.lanes[lane_].group];
    of_group = saturating_add(of_group, length);
    path_.length_ns = saturating_add(path_.length_ns, length);
    now_ = from;
    jumps_without_progress_ = 0;
  }

  void walk_block(size_t first, size_t last) {
    flow_.start_block(first, last);
    now_ = INT64_MIN;
    for (size_t lane = first; lane < last; ++lane) {
      const int64_t end = capture_.lanes[lane].extent.end;
      if (end > now_ || (end == now_ && group_ns(lane) < group_ns(lane_))) lane_ = lane;
      now_ = std::max(now_, end);
    }
    jumps_without_progress_ = 0;
    while (now_ > flow_.begin() && step(flow_.segments(lane_))) {
    }
    add(PathPart::kBetween, flow_.begin());  // until the lane's first record
  }

  // False: the lane has nothing before now.
  bool step(const std::vector<Segment>& segments) {
    const auto after =
        std::lower_bound(segments.begin(), segments.end(), now_,
                         [](const Segment& segment, int64_t time) { return segment.start < time; });
    if (after == segments.begin()) return false;
    const Segment& segment = *(after - 1);
    if (segment.end < now_) {
      add(PathPart::kBetween, segment.end);
      return true;
    }
    const WarpSpan& span = capture_.spans[segment.span];
    if (segment.end == now_ && flow_.ends_wait(segment) && follow(span)) return true;
    add(span.event, segment.start);
    return true;
  }

  // To the group that ended this wait, where it did wait for one.
  bool follow(const WarpSpan& wait) {
    const std::vector<Release>& releases = flow_.releases_of(wait, lane_);
    if (releases.empty()) {
      path_.unexplained += 1;
      return false;
    }
    const int64_t time = releases.front().time;
    // It had come before the wait began: what the wait took is its own.
    if (time <= wait.start) return false;
    const size_t lanes = flow_.last() - flow_.first();
    if (time >= now_ && jumps_without_progress_ >= lanes) return false;
    path_.released += 1;
    add(wait.event, time);
    jumps_without_progress_ += 1;
    lane_ = least_on_path(releases);
    return true;
  }

  // Of those that ended it at the same time, the group that the path has least of: else all of it
  // would be one's where several are alike.
  size_t least_on_path(const std::vector<Release>& releases) const {
    size_t lane = releases.front().lane;
    for (const Release& release : releases) {
      if (release.time != releases.front().time) break;
      if (group_ns(release.lane) < group_ns(lane)) lane = release.lane;
    }
    return lane;
  }
  int64_t group_ns(size_t lane) const { return group_ns_[capture_.lanes[lane].group]; }

  const WarpCapture& capture_;
  BlockFlow flow_;
  std::map<std::pair<uint32_t, uint32_t>, int64_t> lengths_;
  std::vector<int64_t> group_ns_;  // of the path so far
  CriticalPath path_;
  size_t lane_ = 0;
  int64_t now_ = 0;
  size_t jumps_without_progress_ = 0;
};

}  // namespace

int64_t CriticalPath::group_ns(uint32_t group) const {
  int64_t sum = 0;
  for (const PathPart& part : parts) {
    if (part.group == group) sum = saturating_add(sum, part.length_ns);
  }
  return sum;
}

CriticalPath critical_path(const WarpCapture& capture) { return PathWalk(capture).walk(); }

}  // namespace gpufl::analysis
