// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "server/fleet.hpp"
#include "server/fleet_json.hpp"
#include "server/replies.hpp"
#include "server/services.hpp"

namespace gpufl::server {
namespace {

constexpr int64_t kSecond_ns = 1'000'000'000;
constexpr int64_t kLatest_s = int64_t{1} << 33;  // the year 2242
constexpr int64_t kLongest_s = int64_t{400} * 86'400;
constexpr int64_t kUsual_s = 3600;
constexpr int64_t kMostPoints = 2000;
constexpr int64_t kPoints = 400;
constexpr size_t kMostMetrics = 64;

// "a,b" as two; nothing of an empty text.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

net::HttpReply show_device_health(const Services& services, const Call& call) {
  const std::string& id = call.path("device");
  if (services.share.fleet == nullptr) return no_such("device", id);
  FleetQuestion question;
  question.device = id;
  question.to_s = call.integer("to", base::wall_ns() / kSecond_ns + 1);
  question.from_s = call.integer("from", std::max<int64_t>(question.to_s - kUsual_s, 0));
  question.points = static_cast<size_t>(call.integer("points", kPoints));
  question.metrics = split(call.text("metrics", ""));
  if (question.from_s >= question.to_s) {
    return net::problem(400, "Wrong range", "from has to be before to");
  }
  if (question.to_s - question.from_s > kLongest_s) {
    return net::problem(400, "Wrong range", "ask for 400 days at the most");
  }
  if (question.metrics.size() > kMostMetrics) {
    return net::problem(400, "Wrong metrics", "ask for 64 at the most, or for all");
  }
  const auto health = services.share.fleet->health(question);
  if (!health) {
    return health.status().code() == base::Code::NotFound ? no_such("device", id)
                                                          : problem_of(health.status());
  }
  return json_reply(call.request(), fleet_health_json(*health));
}

Parameter second(std::string name, std::string description) {
  return {.name = std::move(name),
          .description = std::move(description),
          .type = Parameter::Type::Integer,
          .least = 0,
          .most = kLatest_s};
}

}  // namespace

void add_fleet_routes(Routes& routes, Services& services) {
  routes.add(
      {.pattern = "/api/v1/devices/{device}/health",
       .id = "show_device_health",
       .summary =
           "Readings of one GPU, whatever session brought them; of a server with --data only",
       .parameters = {second("from", "Second since 1970; left out: an hour before to."),
                      second("to", "The second behind the last; left out: now."),
                      integer("points", 2, kMostPoints, kPoints, "Points of a series at the most."),
                      text_parameter("metrics", "Names with commas between them; left out: all.")},
       .answers = {{.description = "Series of points, each of as many seconds as fit the range: "
                                   "least, mean and most of what was read.",
                    .schema = schema_ref("DeviceHealth")}},
       .handler = [&services](const Call& call) { return show_device_health(services, call); }});
}

}  // namespace gpufl::server
