// SPDX-License-Identifier: Apache-2.0
#include "format/warp_launch.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace gpufl::format {
namespace {

using base::Json;

Json texts(const std::vector<std::string>& from, size_t most) {
  Json list = Json::array();
  for (size_t i = 0; i < std::min(from.size(), most); ++i) list.push(from[i]);
  return list;
}

std::vector<std::string> texts_of(const Json& list, size_t most) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(list.items().size(), most); ++i) {
    texts.push_back(list.items()[i].as_string());
  }
  return texts;
}

void set_known(Json& line, std::string_view key, const std::optional<int64_t>& value) {
  if (value) line.set(key, *value);
}

// Counts and times of a line that somebody else wrote.
int64_t not_negative(const Json& value, int64_t fallback) {
  const int64_t number = value.as_integer(fallback);
  return number < 0 ? fallback : number;
}

std::optional<int64_t> known(const Json& value) {
  const int64_t number = not_negative(value, -1);
  return number < 0 ? std::nullopt : std::optional(number);
}

std::optional<uint64_t> id_of(const std::string& text) {
  uint64_t id = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, id);
  return error == std::errc() && stop == end ? std::optional(id) : std::nullopt;
}

}  // namespace

Json to_json(const WarpLaunch& launch) {
  Json line = Json::object();
  line.set("time", launch.time_ns).set("dur", launch.duration_ns).set("launch", launch.launch);
  if (!launch.kernel.empty()) line.set("kernel", launch.kernel);
  if (launch.device >= 0) line.set("device", launch.device);
  if (launch.correlation != 0) line.set("correlation", launch.correlation);
  if (!launch.join.empty()) line.set("join", launch.join);
  if (launch.launch_id) line.set("launch_id", std::to_string(*launch.launch_id));
  line.set("blocks", launch.blocks).set("groups", launch.groups);
  if (launch.max_records != 0) line.set("max_records", launch.max_records);
  if (!launch.group_names.empty()) {
    line.set("group_names", texts(launch.group_names, WarpLaunch::kMaxNames));
  }
  if (!launch.waits.empty()) line.set("waits", texts(launch.waits, WarpLaunch::kMaxNames));
  if (!launch.flows.empty()) {
    Json flows = Json::array();
    for (size_t i = 0; i < std::min(launch.flows.size(), WarpLaunch::kMaxNames); ++i) {
      Json flow = Json::array();
      flow.push(launch.flows[i].first);
      flow.push(launch.flows[i].second);
      flows.push(std::move(flow));
    }
    line.set("flows", std::move(flows));
  }
  line.set("clock", launch.clock).set("tick_ps", launch.tick_ps);
  set_known(line, "error_ns", launch.error_ns);
  set_known(line, "event_cost_ps", launch.event_cost_ps);
  line.set("records", launch.records);
  set_known(line, "offered", launch.offered);
  set_known(line, "dropped", launch.dropped);
  if (launch.full_lanes != 0) line.set("full_lanes", launch.full_lanes);
  if (!launch.problems.empty()) {
    line.set("problems", texts(launch.problems, WarpLaunch::kMaxProblems));
    const size_t beyond =
        launch.problems.size() - std::min(launch.problems.size(), WarpLaunch::kMaxProblems);
    const int64_t left_out = launch.problems_left_out + static_cast<int64_t>(beyond);
    if (left_out != 0) line.set("problems_left_out", left_out);
  }
  return line;
}

WarpLaunch read_warp_launch(const Json& line) {
  WarpLaunch launch;
  launch.launch = line["launch"].as_integer();
  launch.time_ns = line["time"].as_integer();
  launch.duration_ns = not_negative(line["dur"], 0);
  launch.kernel = line["kernel"].as_string();
  launch.device = not_negative(line["device"], -1);
  launch.correlation = line["correlation"].as_integer();
  launch.join = line["join"].as_string();
  launch.launch_id = id_of(line["launch_id"].as_string());
  launch.blocks = not_negative(line["blocks"], 0);
  launch.groups = not_negative(line["groups"], 0);
  launch.max_records = not_negative(line["max_records"], 0);
  launch.group_names = texts_of(line["group_names"], WarpLaunch::kMaxNames);
  launch.waits = texts_of(line["waits"], WarpLaunch::kMaxNames);
  for (const Json& flow : line["flows"].items()) {
    const std::vector<std::string> ends = texts_of(flow, 2);
    if (ends.size() == 2) launch.flows.emplace_back(ends[0], ends[1]);
  }
  if (line["clock"].is_string()) launch.clock = line["clock"].as_string();
  launch.tick_ps = not_negative(line["tick_ps"], launch.tick_ps);
  launch.error_ns = known(line["error_ns"]);
  launch.event_cost_ps = known(line["event_cost_ps"]);
  launch.records = not_negative(line["records"], 0);
  launch.offered = known(line["offered"]);
  launch.dropped = known(line["dropped"]);
  launch.full_lanes = not_negative(line["full_lanes"], 0);
  launch.problems = texts_of(line["problems"], WarpLaunch::kMaxProblems);
  launch.problems_left_out = not_negative(line["problems_left_out"], 0);
  return launch;
}

}  // namespace gpufl::format
