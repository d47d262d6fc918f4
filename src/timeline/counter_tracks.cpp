// SPDX-License-Identifier: Apache-2.0
#include "timeline/counter_tracks.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gpufl::timeline {
namespace {

using analysis::Samples;

void add_tracks(const SessionTexts& texts, const Samples& samples, CounterTrack::Of of,
                std::vector<CounterTrack>& tracks) {
  using Key = std::tuple<int32_t, uint32_t, int32_t>;  // device, metric, index
  std::map<Key, std::vector<uint32_t>> rows;
  std::map<std::pair<int32_t, uint32_t>, int32_t> highest;
  for (uint32_t row = 0; row < samples.rows(); ++row) {
    const int32_t device = samples.device.empty() ? -1 : samples.device[row];
    const int32_t index = samples.index.empty() ? 0 : samples.index[row];
    rows[{device, samples.metric[row], index}].push_back(row);
    int32_t& most = highest[{device, samples.metric[row]}];
    most = std::max(most, index);
  }
  for (auto& [key, its_rows] : rows) {
    const auto [device, metric, index] = key;
    CounterTrack track{of, device, {}, &samples, std::move(its_rows)};
    track.name = of == CounterTrack::Of::Program ? texts.name(metric) : texts.metric(metric);
    if (highest[{device, metric}] > 0) track.name += " " + std::to_string(index);
    tracks.push_back(std::move(track));
  }
}

}  // namespace

std::vector<CounterTrack> counter_tracks(const SessionTexts& texts) {
  std::vector<CounterTrack> tracks;
  add_tracks(texts, texts.tables().counters, CounterTrack::Of::Program, tracks);
  add_tracks(texts, texts.tables().device_metrics, CounterTrack::Of::Device, tracks);
  add_tracks(texts, texts.tables().host_metrics, CounterTrack::Of::Host, tracks);
  return tracks;
}

}  // namespace gpufl::timeline
