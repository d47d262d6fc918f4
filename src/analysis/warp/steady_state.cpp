// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/steady_state.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace gpufl::analysis {
namespace {

constexpr uint32_t kStageMask = 0xffff;
constexpr int64_t kMaxStages = 64;  // beyond, a payload is no stage

// Stages of the pipeline, by the payloads of the lane; 0: none are told.
size_t stages_of(const WarpCapture& capture, const WarpLane& lane) {
  int64_t last = -1;
  for (size_t i = lane.first; i < lane.last; ++i) {
    const int64_t payload = capture.spans[i].payload;
    if (payload != kNoPayload) last = std::max(last, payload & kStageMask);
  }
  return last < kMaxStages ? static_cast<size_t>(last + 1) : 0;
}

// An event that comes as often as most others do: it comes once in each iteration of the innermost
// loop. Of those, the one that the lane begins with.
std::optional<uint32_t> marker_of(const WarpCapture& capture, const WarpLane& lane) {
  std::map<uint32_t, size_t> counts;
  for (size_t i = lane.first; i < lane.last; ++i) counts[capture.spans[i].event] += 1;
  std::map<size_t, size_t> alike;  // events, by how often they come
  for (const auto& [event, count] : counts) {
    if (count >= kMinLoopIterations) alike[count] += 1;
  }
  size_t most = 0, wanted = 0;
  for (const auto& [count, events] : alike) {
    if (events < most) continue;
    most = events;
    wanted = count;
  }
  if (wanted == 0) return std::nullopt;
  for (size_t i = lane.first; i < lane.last; ++i) {
    if (counts[capture.spans[i].event] == wanted) return capture.spans[i].event;
  }
  return std::nullopt;
}

struct Lengths {
  std::vector<int64_t> values;
  uint64_t left_out = 0;
};

void add_lane(const WarpCapture& capture, const WarpLane& lane, uint32_t event, Lengths& lengths) {
  std::vector<int64_t> starts;
  for (size_t i = lane.first; i < lane.last; ++i) {
    if (capture.spans[i].event == event) starts.push_back(capture.spans[i].start);
  }
  if (starts.size() < kMinLoopIterations) return;
  const size_t iterations = starts.size() - 1;
  // The pipeline fills and drains in as many as it has stages. Of few, a third stays in any case.
  const size_t ends = std::clamp<size_t>(stages_of(capture, lane), 1, iterations / 3);
  for (size_t i = ends; i < iterations - ends; ++i) {
    lengths.values.push_back(starts[i + 1] - starts[i]);
  }
  lengths.left_out += 2 * ends;
}

}  // namespace

std::vector<SteadyState> steady_states(const WarpCapture& capture) {
  std::map<uint32_t, uint32_t> markers;  // by group: what marks iterations of its first lane
  std::map<uint32_t, Lengths> lengths;
  for (const WarpLane& lane : capture.lanes) {
    auto marker = markers.find(lane.group);
    if (marker == markers.end()) {
      const std::optional<uint32_t> event = marker_of(capture, lane);
      if (!event) continue;
      marker = markers.emplace(lane.group, *event).first;
    }
    add_lane(capture, lane, marker->second, lengths[lane.group]);
  }
  std::vector<SteadyState> states;
  for (auto& [group, of_group] : lengths) {
    if (of_group.values.empty()) continue;
    states.push_back({group, markers[group], stats_of(of_group.values), of_group.left_out});
  }
  return states;
}

}  // namespace gpufl::analysis
