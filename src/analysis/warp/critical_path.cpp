// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/critical_path.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/saturating.hpp"

namespace gpufl::analysis {
namespace {

// A stretch of a lane in which this span is the innermost one.
struct Segment {
  int64_t start = 0, end = 0;
  size_t span = 0;  // of WarpCapture::spans
};

std::vector<Segment> flatten(const WarpCapture& capture, const WarpLane& lane) {
  std::vector<Segment> segments;
  std::vector<size_t> open;
  int64_t now = lane.extent.start;
  const auto advance = [&](int64_t until) {
    if (until > now) segments.push_back({now, until, open.back()});
    now = std::max(now, until);
  };
  const auto close_until = [&](int64_t time) {
    for (; !open.empty() && capture.spans[open.back()].end <= time; open.pop_back()) {
      advance(capture.spans[open.back()].end);
    }
  };
  for (size_t i = lane.first; i < lane.last; ++i) {
    const WarpSpan& span = capture.spans[i];
    if (!span.is_range()) continue;
    close_until(span.start);
    if (!open.empty()) advance(span.start);
    now = std::max(now, span.start);
    open.push_back(i);
  }
  close_until(INT64_MAX);
  return segments;
}

// Which events each event waits for.
std::vector<std::vector<uint32_t>> sources_of(const WarpCapture& capture) {
  std::unordered_map<std::string, std::vector<uint32_t>> by_name;
  for (uint32_t event = 0; event < capture.events.size(); ++event) {
    by_name[capture.events[event].name].push_back(event);
  }
  std::vector<std::vector<uint32_t>> sources(capture.events.size());
  for (const auto& [source, target] : capture.launch.flows) {
    const auto from = by_name.find(source), to = by_name.find(target);
    if (from == by_name.end() || to == by_name.end()) continue;
    for (const uint32_t event : to->second) {
      sources[event].insert(sources[event].end(), from->second.begin(), from->second.end());
    }
  }
  return sources;
}

struct Release {
  size_t lane = 0;  // of WarpCapture::lanes
  int64_t time = 0;
};

// The ends of those events of one block that others wait for.
class Releases {
 public:
  Releases(const WarpCapture& capture, const std::vector<std::vector<uint32_t>>& sources)
      : capture_(capture), sources_(sources), is_source_(capture.events.size()) {
    for (const auto& events : sources) {
      for (const uint32_t event : events) is_source_[event] = true;
    }
    // Both stamps are late by up to a tick, and a record is made after what it tells of.
    slack_ns_ = static_cast<int64_t>(2 * capture.span_error_ns());
  }

  void start_block(size_t first, size_t last) {
    ends_.clear();
    for (size_t lane = first; lane < last; ++lane) {
      for (size_t i = capture_.lanes[lane].first; i < capture_.lanes[lane].last; ++i) {
        const WarpSpan& span = capture_.spans[i];
        if (!span.is_range() || !is_source_[span.event]) continue;
        ends_.push_back({span.event, span.payload, span.end, lane});
        ends_.push_back({span.event, kAnyPayload, span.end, lane});
      }
    }
    std::sort(ends_.begin(), ends_.end());
  }

  // What ended this wait: the last end of what it waits for, in another lane.
  std::optional<Release> find(const WarpSpan& wait, size_t lane) const {
    std::optional<Release> latest;
    const auto see = [&](uint32_t event, int64_t payload) {
      const std::optional<Release> found = last_end(event, payload, wait.end + slack_ns_, lane);
      if (found && (!latest || found->time > latest->time)) latest = found;
    };
    for (const uint32_t event : sources_[wait.event]) {
      if (wait.payload == kNoPayload) {
        see(event, kAnyPayload);
      } else {
        see(event, wait.payload);
        see(event, kNoPayload);
      }
    }
    return latest;
  }

 private:
  static constexpr int64_t kAnyPayload = -2;  // for waits that do not say which

  struct End {
    uint32_t event = 0;
    int64_t payload = 0, time = 0;
    size_t lane = 0;
    auto operator<=>(const End&) const = default;
  };

  std::optional<Release> last_end(uint32_t event, int64_t payload, int64_t until,
                                  size_t lane) const {
    auto after = std::upper_bound(ends_.begin(), ends_.end(), End{event, payload, until, SIZE_MAX});
    while (after != ends_.begin()) {
      --after;
      if (after->event != event || after->payload != payload) return std::nullopt;
      if (after->lane != lane) return Release{after->lane, after->time};
    }
    return std::nullopt;
  }

  const WarpCapture& capture_;
  const std::vector<std::vector<uint32_t>>& sources_;
  std::vector<bool> is_source_;
  int64_t slack_ns_ = 0;
  std::vector<End> ends_;
};

class PathWalk {
 public:
  explicit PathWalk(const WarpCapture& capture)
      : capture_(capture), sources_(sources_of(capture)), releases_(capture, sources_) {}

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
    path_.length_ns = saturating_add(path_.length_ns, length);
    now_ = from;
    jumps_without_progress_ = 0;
  }

  void walk_block(size_t first, size_t last) {
    releases_.start_block(first, last);
    segments_.clear();
    int64_t begin = INT64_MAX;
    now_ = INT64_MIN;
    for (size_t lane = first; lane < last; ++lane) {
      segments_.push_back(flatten(capture_, capture_.lanes[lane]));
      begin = std::min(begin, capture_.lanes[lane].extent.start);
      if (capture_.lanes[lane].extent.end > now_) {
        now_ = capture_.lanes[lane].extent.end;
        lane_ = lane;
      }
    }
    jumps_without_progress_ = 0;
    while (now_ > begin && step(segments_[lane_ - first], last - first)) {
    }
    add(PathPart::kBetween, begin);  // until the lane's first record
  }

  // False: the lane has nothing before now.
  bool step(const std::vector<Segment>& segments, size_t lanes) {
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
    if (capture_.events[span.event].is_wait && span.end == now_ && follow(span, lanes)) return true;
    add(span.event, segment.start);
    return true;
  }

  // To the group that ended this wait, where it did wait for one.
  bool follow(const WarpSpan& wait, size_t lanes) {
    const std::optional<Release> release = releases_.find(wait, lane_);
    if (!release) path_.unexplained += 1;
    // It had come before the wait began: what the wait took is its own.
    if (!release || release->time <= wait.start) return false;
    if (release->time >= now_ && jumps_without_progress_ >= lanes) return false;
    path_.released += 1;
    add(wait.event, release->time);
    jumps_without_progress_ += 1;
    lane_ = release->lane;
    return true;
  }

  const WarpCapture& capture_;
  const std::vector<std::vector<uint32_t>> sources_;
  Releases releases_;
  std::vector<std::vector<Segment>> segments_;  // by lane of the block
  std::map<std::pair<uint32_t, uint32_t>, int64_t> lengths_;
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
