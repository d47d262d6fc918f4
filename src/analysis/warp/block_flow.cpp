// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/block_flow.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "analysis/math/saturating.hpp"

namespace gpufl::analysis {
namespace {

constexpr int64_t kAnyPayload = -2;  // for waits that do not say which
// How many ends before a wait's are looked at: those of one round of every lane, and to spare.
constexpr int kMaxEndsSeen = 64;

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
      const WarpSpan& span = capture.spans[open.back()];
      advance(span.end);
      if (span.start == span.end && capture.events[span.event].is_wait) {
        segments.push_back({now, now, open.back()});
      }
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

}  // namespace

BlockFlow::BlockFlow(const WarpCapture& capture)
    : capture_(capture), sources_(sources_of(capture)), is_source_(capture.events.size()) {
  for (const auto& events : sources_) {
    for (const uint32_t event : events) is_source_[event] = true;
  }
  // Both stamps are late by up to a tick, and a record is made after what it tells of.
  slack_ns_ = static_cast<int64_t>(std::clamp(2 * capture.span_error_ns(), 0.0, 1e15));
}

void BlockFlow::start_block(size_t first, size_t last) {
  first_ = first;
  begin_ = INT64_MAX;
  segments_.clear();
  ends_.clear();
  for (size_t lane = first; lane < last; ++lane) {
    segments_.push_back(flatten(capture_, capture_.lanes[lane]));
    begin_ = std::min(begin_, capture_.lanes[lane].extent.start);
    for (size_t i = capture_.lanes[lane].first; i < capture_.lanes[lane].last; ++i) {
      const WarpSpan& span = capture_.spans[i];
      if (!span.is_range() || !is_source_[span.event]) continue;
      ends_.push_back({span.event, span.payload, span.end, lane});
      ends_.push_back({span.event, kAnyPayload, span.end, lane});
    }
  }
  std::sort(ends_.begin(), ends_.end());
}

bool BlockFlow::ends_wait(const Segment& segment) const {
  const WarpSpan& span = capture_.spans[segment.span];
  return capture_.events[span.event].is_wait && span.end == segment.end;
}

const std::vector<Release>& BlockFlow::releases_of(const WarpSpan& wait, size_t lane) {
  releases_.clear();
  const int64_t until = saturating_add(wait.end, slack_ns_);
  for (const uint32_t event : sources_[wait.event]) {
    if (wait.payload == kNoPayload) {
      add_last_ends(event, kAnyPayload, until, lane);
    } else {
      add_last_ends(event, wait.payload, until, lane);
      add_last_ends(event, kNoPayload, until, lane);
    }
  }
  std::stable_sort(releases_.begin(), releases_.end(),
                   [](const Release& a, const Release& b) { return a.time > b.time; });
  return releases_;
}

void BlockFlow::add_last_ends(uint32_t event, int64_t payload, int64_t until, size_t lane) {
  auto end = std::upper_bound(ends_.begin(), ends_.end(), End{event, payload, until, SIZE_MAX});
  for (int seen = 0; seen < kMaxEndsSeen && end != ends_.begin(); ++seen) {
    --end;
    if (end->event != event || end->payload != payload) return;
    if (end->lane == lane) continue;
    const auto known =
        std::find_if(releases_.begin(), releases_.end(),
                     [&](const Release& release) { return release.lane == end->lane; });
    if (known == releases_.end()) {
      releases_.push_back({end->lane, end->time});
    } else {
      known->time = std::max(known->time, end->time);
    }
  }
}

}  // namespace gpufl::analysis
