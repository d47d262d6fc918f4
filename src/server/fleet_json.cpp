// SPDX-License-Identifier: Apache-2.0
#include "server/fleet_json.hpp"

#include <string>
#include <utility>

namespace gpufl::server {
namespace {

using base::Json;

constexpr int64_t kFromSeconds_ns = 1'000'000'000;

// Nanoseconds since 1970 do not fit a double.
Json time_json(int64_t time_ns) { return time_ns == 0 ? Json() : Json(std::to_string(time_ns)); }

Json series_json(const FleetSeries& series) {
  Json steps = Json::array(), counts = Json::array(), least = Json::array(), mean = Json::array(),
       most = Json::array();
  for (const FleetPoint& point : series.points) {
    steps.push(uint64_t{point.step});
    counts.push(point.count);
    least.push(point.least);
    mean.push(point.mean);
    most.push(point.most);
  }
  return Json::object()
      .set("metric", series.metric)
      .set("index", series.index)
      .set("step", std::move(steps))
      .set("count", std::move(counts))
      .set("min", std::move(least))
      .set("mean", std::move(mean))
      .set("max", std::move(most));
}

}  // namespace

void set_fleet_fields(Json& json, const FleetDevice* device) {
  json.set("id", device == nullptr ? Json() : Json(device->id));
  json.set("last_seen_wall_ns", device == nullptr ? Json() : time_json(device->seen_ns));
  json.set("last_reading_wall_ns", device == nullptr ? Json() : time_json(device->last_ns));
}

Json fleet_health_json(const FleetHealth& health) {
  Json device = Json::object();
  device.set("host", health.device.host).set("uuid", health.device.uuid);
  device.set("name", health.device.name);
  set_fleet_fields(device, &health.device);
  Json list = Json::array();
  for (const FleetSeries& series : health.series) list.push(series_json(series));
  return Json::object()
      .set("device", std::move(device))
      .set("level_s", health.level_s)
      .set("step_s", health.step_s)
      .set("from_wall_ns", std::to_string(health.from_s * kFromSeconds_ns))
      .set("series", std::move(list))
      .set("series_left_out", health.series_left_out);
}

}  // namespace gpufl::server
