// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/warp_capture.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/math/saturating.hpp"
#include "analysis/session/selection.hpp"

namespace gpufl::analysis {
namespace {

namespace column = format::warp_span_column;
using format::Batch;
using format::WarpEnding;

// No recording has later times, and sums of these do not overflow.
int64_t possible_time(int64_t time_ns) {
  return std::clamp(time_ns, Selection::kAlways.start, Selection::kAlways.end);
}

WarpEnding ending_of(int64_t value) {
  return value >= 0 && value <= static_cast<int64_t>(WarpEnding::NoBegin)
             ? static_cast<WarpEnding>(value)
             : WarpEnding::NoEnd;
}

// Makes the capture of some rows of the log.
class CaptureBuilder {
 public:
  CaptureBuilder(const Tables& tables, const Batch& rows) : tables_(tables), rows_(rows) {}

  // `line`: null where the log has none.
  WarpCapture build(int64_t number, const format::WarpLaunch* line,
                    const std::vector<uint32_t>& numbers) {
    WarpCapture capture;
    capture.has_line = line != nullptr;
    if (line != nullptr) capture.launch = *line;
    capture.launch.launch = number;
    name_groups(numbers, capture);
    add_lanes(numbers, capture);
    name_events(capture);
    return capture;
  }

 private:
  using LaneKey = std::pair<int64_t, int64_t>;  // block, group

  LaneKey lane_of(uint32_t row) const {
    return {rows_.at(column::kBlock, row), rows_.at(column::kGroup, row)};
  }

  void name_groups(const std::vector<uint32_t>& numbers, WarpCapture& capture) {
    std::map<int64_t, int64_t> names;  // ids, by the number of the group
    for (const uint32_t row : numbers) {
      int64_t& name = names[rows_.at(column::kGroup, row)];
      if (name == 0) name = rows_.at(column::kGroupName, row);
    }
    const std::vector<std::string>& told = capture.launch.group_names;
    for (const auto& [number, id] : names) {
      std::string name = id > 0 ? tables_.name(static_cast<uint32_t>(id)) : std::string();
      const auto place = static_cast<uint64_t>(number);
      if (name.empty() && place < told.size()) name = told[place];
      if (name.empty()) name = "group " + std::to_string(number);
      group_index_[number] = static_cast<uint32_t>(capture.groups.size());
      capture.groups.push_back({number, std::move(name)});
    }
    if (capture.has_line || numbers.empty()) return;
    capture.launch.device = rows_.at(column::kDevice, numbers[0], -1);
    capture.launch.correlation = rows_.at(column::kCorrelation, numbers[0]);
    if (rows_.has(column::kError)) capture.launch.error_ns = rows_.at(column::kError, numbers[0]);
  }

  uint32_t event_index(int64_t id, WarpCapture& capture) {
    const auto [known, is_new] =
        event_index_.try_emplace(id, static_cast<uint32_t>(capture.events.size()));
    if (is_new) capture.events.push_back({tables_.name(static_cast<uint32_t>(id)), false});
    return known->second;
  }

  void add_lanes(const std::vector<uint32_t>& numbers, WarpCapture& capture) {
    std::map<LaneKey, std::vector<uint32_t>> by_lane;
    for (const uint32_t row : numbers) by_lane[lane_of(row)].push_back(row);
    capture.spans.reserve(numbers.size());
    for (const auto& [key, of_lane] : by_lane) {
      WarpLane lane;
      lane.block = key.first;
      lane.group = group_index_.at(key.second);
      lane.sm = rows_.at(column::kSm, of_lane[0], -1);
      lane.first = capture.spans.size();
      for (const uint32_t row : of_lane) capture.spans.push_back(span_of(row, capture));
      lane.last = capture.spans.size();
      finish_lane(lane, capture);
    }
  }

  WarpSpan span_of(uint32_t row, WarpCapture& capture) {
    WarpSpan span;
    span.start = possible_time(rows_.at(column::kStart, row));
    span.ending = ending_of(rows_.at(column::kEnding, row));
    const int64_t duration = std::max<int64_t>(0, rows_.at(column::kDuration, row));
    span.end = span.is_range() ? possible_time(saturating_add(span.start, duration)) : span.start;
    span.payload = rows_.at(column::kPayload, row, kNoPayload);
    span.event = event_index(rows_.at(column::kEvent, row), capture);
    return span;
  }

  static void finish_lane(WarpLane& lane, WarpCapture& capture) {
    const auto begin = capture.spans.begin() + static_cast<std::ptrdiff_t>(lane.first);
    const auto comes_before = [](const WarpSpan& a, const WarpSpan& b) {
      return std::tie(a.start, b.end) < std::tie(b.start, a.end);
    };
    std::stable_sort(begin, capture.spans.end(), comes_before);
    lane.extent = {begin->start, begin->end};
    for (size_t i = lane.first; i < lane.last; ++i) {
      lane.extent.end = std::max(lane.extent.end, capture.spans[i].end);
    }
    if (capture.lanes.empty()) capture.extent = lane.extent;
    capture.extent.start = std::min(capture.extent.start, lane.extent.start);
    capture.extent.end = std::max(capture.extent.end, lane.extent.end);
    capture.lanes.push_back(lane);
  }

  static void name_events(WarpCapture& capture) {
    const std::set<std::string> waits(capture.launch.waits.begin(), capture.launch.waits.end());
    for (WarpEventName& event : capture.events) event.is_wait = waits.contains(event.name);
  }

  const Tables& tables_;
  const Batch& rows_;
  std::unordered_map<int64_t, uint32_t> event_index_, group_index_;
};

}  // namespace

double WarpCapture::span_error_ns() const {
  return (static_cast<double>(launch.tick_ps) +
          static_cast<double>(launch.event_cost_ps.value_or(0))) /
         1e3;
}

void for_each_capture(const Tables& tables, const std::function<void(const WarpCapture&)>& visit) {
  const Batch none(format::Kind::WarpSpan);
  const auto found = tables.others.find(format::Kind::WarpSpan);
  const Batch& rows = found == tables.others.end() ? none : found->second;
  struct Parts {
    const format::WarpLaunch* line = nullptr;
    std::vector<uint32_t> rows;
  };
  std::map<int64_t, Parts> by_launch;
  // A launch that recorded nothing has a line all the same.
  for (const format::WarpLaunch& launch : tables.warp_launches) {
    by_launch[launch.launch].line = &launch;
  }
  for (uint32_t row = 0; row < rows.rows(); ++row) {
    by_launch[rows.at(column::kLaunch, row)].rows.push_back(row);
  }
  for (const auto& [number, parts] : by_launch) {
    visit(CaptureBuilder(tables, rows).build(number, parts.line, parts.rows));
  }
}

}  // namespace gpufl::analysis
