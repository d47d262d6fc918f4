// SPDX-License-Identifier: Apache-2.0
#include "hosting/workspace_fleet.hpp"

#include <charconv>
#include <string>
#include <utility>

#include "base/clock.hpp"

namespace gpufl::hosting {
namespace {

constexpr int64_t kNsPerS = 1'000'000'000;
constexpr int64_t kNsPerMilli = 1'000'000;

server::FleetDevice device_of(const store::HealthDevice& device) {
  return {.id = std::to_string(device.id),
          .host = device.host,
          .uuid = device.uuid,
          .name = device.name,
          .seen_ns = device.seen_ms * kNsPerMilli,
          .last_ns = device.last_ms * kNsPerMilli};
}

server::FleetSeries series_of(const store::SeriesName& name, const store::HealthSeries& series) {
  server::FleetSeries found{name.metric, name.index, {}};
  found.points.reserve(series.size());
  for (const store::HealthBucket& one : series) {
    const double mean = static_cast<double>(one.sum) / static_cast<double>(one.count);
    found.points.push_back({one.at, one.count, one.least, one.most, mean});
  }
  return found;
}

}  // namespace

base::Result<std::vector<server::FleetDevice>> WorkspaceFleet::devices() {
  const auto devices = store_.health().devices(workspace_);
  if (!devices) return devices.status();
  std::vector<server::FleetDevice> found;
  for (const store::HealthDevice& one : *devices) found.push_back(device_of(one));
  return found;
}

base::Result<server::FleetHealth> WorkspaceFleet::health(const server::FleetQuestion& question) {
  store::HealthQuestion asked;
  asked.workspace = workspace_;
  const std::string& id = question.device;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), asked.device);
  if (error != std::errc() || end != id.data() + id.size()) {
    return base::Status(base::Code::NotFound, "there is no such device");
  }
  asked.from_s = question.from_s;
  asked.to_s = question.to_s;
  asked.points = question.points;
  asked.metrics = question.metrics;
  asked.now_s = base::wall_ns() / kNsPerS;
  const auto answer = store_.health().read(asked);
  if (!answer) return answer.status();
  server::FleetHealth health;
  health.device = device_of(answer->device);
  health.level_s = answer->level_s;
  health.from_s = answer->from_s;
  health.step_s = answer->step_s;
  health.series_left_out = answer->left_out;
  for (const auto& [name, series] : answer->series) {
    health.series.push_back(series_of(name, series));
  }
  return health;
}

server::FleetCounts WorkspaceFleet::counts() const {
  const store::HealthCounts counts = store_.health().counts(workspace_);
  return {counts.windows, counts.readings, counts.dropped, counts.failures};
}

}  // namespace gpufl::hosting
