// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "analysis/warp/warp_figures.hpp"
#include "format/warp_launch.hpp"
#include "report/json_figures.hpp"

namespace gpufl::report {
namespace {

using analysis::WarpFigures;
using base::Json;

Json event_json(const WarpFigures& warp, const analysis::WarpEventFigures& event) {
  Json json = Json::object();
  json.set("event", warp.event_name(event.event));
  json.set("is_wait", warp.events[event.event].is_wait);
  json.set("duration_ns", to_json(event.duration_ns)).set("deviation_ns", event.deviation_ns);
  json.set("instants", event.instants).set("unmatched", event.unmatched);
  return json.set("is_short", event.is_short);
}

Json group_json(const WarpFigures& warp, const analysis::WarpGroupFigures& group) {
  Json json = Json::object();
  json.set("group", warp.groups[group.group].number).set("name", warp.group_name(group.group));
  json.set("lanes", group.lanes).set("extent_ns", group.extent_ns);
  json.set("busy_ns", group.busy_ns).set("wait_ns", group.wait_ns);
  json.set("bubble_ns", group.bubble_ns());
  json.set("critical_path_share", warp.path.share(warp.path.group_ns(group.group)));
  return json.set("events", json_array(group.events,
                                       [&](const auto& event) { return event_json(warp, event); }));
}

Json path_json(const WarpFigures& warp) {
  Json json = Json::object();
  json.set("length_ns", warp.path.length_ns);
  json.set("released", warp.path.released).set("unexplained", warp.path.unexplained);
  return json.set("parts", json_array(warp.path.parts, [&](const analysis::PathPart& part) {
                    Json entry = Json::object();
                    entry.set("group", warp.group_name(part.group));
                    entry.set("event", warp.event_name(part.event));
                    entry.set("length_ns", part.length_ns);
                    return entry.set("share", warp.path.share(part.length_ns));
                  }));
}

Json bottleneck_json(const WarpFigures& warp) {
  if (!warp.bottleneck) return {};
  Json json = Json::object();
  const std::vector<uint32_t>& groups = warp.bottleneck->groups;
  json.set("group", groups.size() == 1 ? Json(warp.group_name(groups[0])) : Json());
  json.set("groups", json_array(groups, [&](uint32_t group) { return warp.group_name(group); }));
  json.set("share", warp.bottleneck->share).set("is_by_path", warp.bottleneck->is_by_path);
  json.set("event", warp.event_name(warp.bottleneck->event));
  json.set("event_share", warp.bottleneck->event_share);
  return json.set("gain", json_optional(warp.bottleneck->gain))
      .set("error", warp.bottleneck->error);
}

Json balance_json(const analysis::SmBalance& balance) {
  Json json = Json::object();
  json.set("sms", balance.sms).set("resident", balance.resident);
  json.set("blocks_per_sm", to_json(balance.blocks_per_sm));
  json.set("covered_ns", to_json(balance.covered_ns)).set("imbalance", balance.imbalance());
  json.set("last_sm", balance.last_sm).set("block_ns", to_json(balance.block_ns));
  json.set("longest_block", balance.longest_block);
  return json.set("waves", json_array(balance.waves, [](const analysis::BlockWave& wave) {
                    Json entry = Json::object();
                    entry.set("blocks", wave.blocks).set("start_ns", wave.extent.start);
                    return entry.set("end_ns", wave.extent.end);
                  }));
}

Json joined_json(const analysis::WarpKernel& kernel) {
  Json json = Json::object();
  json.set("start_ns", kernel.start_ns).set("duration_ns", kernel.duration_ns);
  return json.set("outside", kernel.outside).set("worst_ns", kernel.worst_ns);
}

Json warp_json(const WarpFigures& warp) {
  Json json = Json::object();
  json.set("kernel", warp.kernel).set("launch", format::to_json(warp.launch));
  json.set("spans", warp.spans).set("instants", warp.instants).set("unmatched", warp.unmatched);
  json.set("blocks", warp.blocks).set("extent_ns", warp.extent_ns);
  json.set("span_error_ns", warp.span_error_ns);
  json.set("joined", json_figure(warp.joined, joined_json));
  json.set("groups", json_array(warp.times.groups,
                                [&](const auto& group) { return group_json(warp, group); }));
  json.set("bottleneck", bottleneck_json(warp)).set("critical_path", path_json(warp));
  json.set("overlaps", json_array(warp.times.overlaps, [&](const analysis::WarpOverlap& overlap) {
             Json entry = Json::object();
             entry.set("a", warp.group_name(overlap.a)).set("b", warp.group_name(overlap.b));
             return entry.set("both_ns", overlap.both_ns).set("extent_ns", overlap.extent_ns);
           }));
  json.set("steady_state", json_array(warp.steady, [&](const analysis::SteadyState& state) {
             Json entry = Json::object();
             entry.set("group", warp.group_name(state.group));
             entry.set("event", warp.event_name(state.event));
             entry.set("iteration_ns", to_json(state.iteration_ns));
             return entry.set("left_out", state.left_out);
           }));
  return json.set("balance", json_figure(warp.balance, balance_json));
}

}  // namespace

void write_warps(base::JsonWriter& out, const analysis::Overview& overview) {
  write_list(out, "warps", overview.warps, warp_json);
}

}  // namespace gpufl::report
