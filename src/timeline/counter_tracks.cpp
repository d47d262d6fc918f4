// SPDX-License-Identifier: Apache-2.0
#include "timeline/counter_tracks.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/math/scaled_value.hpp"
#include "format/columns.hpp"

namespace gpufl::timeline {
namespace {

using analysis::Samples;
namespace pm_column = format::pm_sample_column;

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
    CounterTrack track{of, device, {}, &samples, nullptr, std::move(its_rows)};
    track.name = of == CounterTrack::Of::Program ? texts.name(metric) : texts.metric(metric);
    if (highest[{device, metric}] > 0) track.name += " " + std::to_string(index);
    tracks.push_back(std::move(track));
  }
}

void add_hardware_tracks(const SessionTexts& texts, std::vector<CounterTrack>& tracks) {
  const auto found = texts.tables().others.find(format::Kind::PmSample);
  if (found == texts.tables().others.end()) return;
  const format::Batch& samples = found->second;
  std::map<std::pair<int64_t, int64_t>, std::vector<uint32_t>> rows;  // by device and metric
  for (uint32_t row = 0; row < samples.rows(); ++row) {
    rows[{samples.at(pm_column::kDevice, row), samples.at(pm_column::kMetric, row)}].push_back(row);
  }
  for (auto& [key, its_rows] : rows) {
    std::stable_sort(its_rows.begin(), its_rows.end(), [&](uint32_t a, uint32_t b) {
      return samples.at(pm_column::kStart, a) < samples.at(pm_column::kStart, b);
    });
    CounterTrack track{
        CounterTrack::Of::Device, static_cast<int32_t>(key.first), {}, nullptr, &samples,
        std::move(its_rows)};
    track.name = texts.metric(static_cast<uint32_t>(key.second));
    tracks.push_back(std::move(track));
  }
}

}  // namespace

int64_t CounterTrack::time(uint32_t row) const {
  return samples != nullptr ? samples->time[row] : hardware->at(pm_column::kStart, row);
}

double CounterTrack::real_value(uint32_t row) const {
  return analysis::scaled_value(hardware->at(pm_column::kValue, row),
                                hardware->at(pm_column::kExponent, row, 0));
}

std::vector<CounterTrack> counter_tracks(const SessionTexts& texts) {
  std::vector<CounterTrack> tracks;
  add_tracks(texts, texts.tables().counters, CounterTrack::Of::Program, tracks);
  add_tracks(texts, texts.tables().device_metrics, CounterTrack::Of::Device, tracks);
  add_hardware_tracks(texts, tracks);
  add_tracks(texts, texts.tables().host_metrics, CounterTrack::Of::Host, tracks);
  return tracks;
}

}  // namespace gpufl::timeline
