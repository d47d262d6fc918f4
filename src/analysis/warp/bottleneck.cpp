// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/bottleneck.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "analysis/math/saturating.hpp"
#include "analysis/warp/what_if.hpp"

namespace gpufl::analysis {
namespace {

// Groups of the same code differ by so much from one launch to the next.
constexpr double kAlike = 0.03;
// Of the critical path, in which no event is open: with more, nothing tells what limits.
constexpr double kMostlyUnrecorded = 0.5;
// The error of a sum of stamps, in standard deviations.
constexpr double kSigmas = 3;
// The busiest groups, of which it is asked what each alone would save.
constexpr size_t kMaxGroupsAsked = 16;

class Search {
 public:
  Search(const WarpCapture& capture, const GroupTimes& times, const CriticalPath& path)
      : capture_(capture), times_(times), path_(path), by_own_time_(times.groups.size()) {
    std::iota(by_own_time_.begin(), by_own_time_.end(), 0);
    std::stable_sort(by_own_time_.begin(), by_own_time_.end(),
                     [&](uint32_t a, uint32_t b) { return own_share(a) > own_share(b); });
  }

  WarpBottleneck by_path() const {
    WarpBottleneck found;
    found.is_by_path = true;
    if (const double unrecorded = unrecorded_share(); unrecorded > kMostlyUnrecorded) {
      found.event = PathPart::kBetween;
      found.share = found.event_share = unrecorded;
      return found;
    }
    if (times_.groups.size() == 1) {
      found.groups = {0};
    } else {
      choose(found);
    }
    std::map<uint32_t, int64_t> by_event;
    int64_t length = 0, most = -1;
    for (const PathPart& part : path_.parts) {
      if (part.event == PathPart::kBetween || !contains(found.groups, part.group)) continue;
      length = saturating_add(length, part.length_ns);
      int64_t& of_event = by_event[part.event];
      of_event = saturating_add(of_event, part.length_ns);
    }
    for (const auto& [event, event_ns] : by_event) {
      if (event_ns <= most) continue;
      most = event_ns;
      found.event = event;
      found.event_share = path_.share(event_ns);
    }
    found.share = path_.share(length);
    return found;
  }

  WarpBottleneck by_busy_share() const {
    const auto busy = [&](uint32_t group) {
      return times_.groups[group].share(times_.groups[group].busy_ns);
    };
    const uint32_t busiest =
        *std::max_element(by_own_time_.begin(), by_own_time_.end(),
                          [&](uint32_t a, uint32_t b) { return busy(a) < busy(b); });
    WarpBottleneck found;
    found.error = error_of(busiest);
    for (uint32_t group = 0; group < times_.groups.size(); ++group) {
      if (busy(group) >= busy(busiest) - found.error) found.groups.push_back(group);
    }
    found.share = busy(busiest);
    found.event = PathPart::kBetween;
    for (const WarpEventFigures& event : times_.groups[busiest].events) {
      if (capture_.events[event.event].is_wait) continue;
      found.event = event.event;
      found.event_share = times_.groups[busiest].share(event.duration_ns.total);
      break;
    }
    return found;
  }

 private:
  static bool contains(const std::vector<uint32_t>& groups, uint32_t group) {
    return std::find(groups.begin(), groups.end(), group) != groups.end();
  }

  // Of the path: code that nobody records, or a wait that nobody declares, may lie there.
  double unrecorded_share() const {
    int64_t length = 0;
    for (const PathPart& part : path_.parts) {
      if (part.event == PathPart::kBetween) length = saturating_add(length, part.length_ns);
    }
    return path_.share(length);
  }

  // What its events work, of the blocks' time.
  double own_share(uint32_t group) const { return path_.share(times_.groups[group].busy_ns); }

  double work_ranges(uint32_t group) const {
    double ranges = 0;
    for (const WarpEventFigures& event : times_.groups[group].events) {
      if (capture_.events[event.event].is_wait) continue;
      ranges += static_cast<double>(event.duration_ns.count);
    }
    return ranges;
  }

  // By how much the difference between a group and the busiest of the others may be off, of the
  // path. Each end of a range is cut to a tick of the clock, independently of the others: evenly
  // spread over a tick, so by tick / sqrt(12). The cost of records is in both, and differs where
  // one records more ranges.
  double error_of(uint32_t group) const {
    const uint32_t other = by_own_time_[by_own_time_[0] == group ? 1 : 0];
    const double ranges = work_ranges(group), of_other = work_ranges(other);
    const double tick_ns = static_cast<double>(capture_.launch.tick_ps) / 1e3;
    const double cost_ns = static_cast<double>(capture_.launch.event_cost_ps.value_or(0)) / 1e3;
    const double random_ns = kSigmas * tick_ns * std::sqrt(2 * (ranges + of_other) / 12);
    const double systematic_ns = cost_ns * std::abs(ranges - of_other);
    return std::max(kAlike, (random_ns + systematic_ns) / static_cast<double>(path_.length_ns));
  }

  // What the first groups alone would save, and then, for where none does, what more and more of
  // them together would: as many as are alike at once.
  void choose(WarpBottleneck& found) const {
    const size_t asked = std::min(by_own_time_.size(), kMaxGroupsAsked);
    std::vector<WhatIf> cases;
    for (size_t i = 0; i < asked; ++i) cases.push_back({{by_own_time_[i]}});
    for (size_t count = 2; count <= by_own_time_.size() && cases.size() < 2 * asked; ++count) {
      if (own_share(by_own_time_[count - 1]) < own_share(by_own_time_[0]) / 2) break;
      const bool is_like_next =
          count < by_own_time_.size() &&
          own_share(by_own_time_[count]) >= own_share(by_own_time_[count - 1]) - kAlike;
      if (is_like_next) continue;
      cases.push_back(
          {{by_own_time_.begin(), by_own_time_.begin() + static_cast<std::ptrdiff_t>(count)}});
    }
    std::vector<double> gains;
    for (const double length : lengths_if(capture_, cases)) {
      gains.push_back(std::max(0.0, 1 - length / static_cast<double>(path_.length_ns)));
    }
    const auto best =
        std::max_element(gains.begin(), gains.begin() + static_cast<std::ptrdiff_t>(asked));
    found.gain = *best;
    found.error = error_of(by_own_time_[static_cast<size_t>(best - gains.begin())]);
    if (*best > found.error) {
      for (size_t i = 0; i < asked; ++i) {
        if (gains[i] > found.error && gains[i] >= *best - found.error) {
          found.groups.push_back(by_own_time_[i]);
        }
      }
    } else {
      for (size_t i = asked; i < cases.size() && found.groups.empty(); ++i) {
        if (gains[i] > found.error) found.groups = cases[i].instant_groups;
      }
    }
    if (found.groups.empty()) add_like_path(found);
    std::sort(found.groups.begin(), found.groups.end());
  }

  // Waits that nothing explains hide what depends on what: the group whose event has most of the
  // path, and those that wait as little.
  void add_like_path(WarpBottleneck& found) const {
    const auto not_waiting = [&](uint32_t group) {
      return path_.share(times_.groups[group].extent_ns - times_.groups[group].wait_ns);
    };
    const auto longest =
        std::find_if(path_.parts.begin(), path_.parts.end(),
                     [](const PathPart& part) { return part.event != PathPart::kBetween; });
    const double expected = not_waiting(longest->group);
    for (const uint32_t group : by_own_time_) {
      if (std::abs(not_waiting(group) - expected) <= found.error) found.groups.push_back(group);
    }
  }

  const WarpCapture& capture_;
  const GroupTimes& times_;
  const CriticalPath& path_;
  std::vector<uint32_t> by_own_time_;  // groups: the largest share of their time first
};

}  // namespace

std::optional<WarpBottleneck> find_bottleneck(const WarpCapture& capture, const GroupTimes& times,
                                              const CriticalPath& path) {
  if (path.length_ns == 0 || path.parts.empty()) return std::nullopt;
  const Search search(capture, times, path);
  const bool is_joined = times.groups.size() == 1 || path.released > 0;
  return is_joined ? search.by_path() : search.by_busy_share();
}

}  // namespace gpufl::analysis
