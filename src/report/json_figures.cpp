// SPDX-License-Identifier: Apache-2.0
#include "report/json_figures.hpp"

#include <string>

#include "analysis/figures/missing.hpp"
#include "report/text_sections.hpp"

namespace gpufl::report {

using base::Json;
using base::JsonWriter;

Json to_json(const analysis::Distribution& distribution) {
  Json json = Json::object();
  json.set("count", distribution.count).set("total", distribution.total);
  if (distribution.count == 0) return json;
  json.set("min", distribution.min).set("max", distribution.max).set("mean", distribution.mean());
  return json;
}

Json to_json(const analysis::Series& series) {
  Json json = Json::object();
  json.set("step_ns", series.step_ns);
  json.set("points", json_array(series.points, [](const analysis::SeriesPoint& point) {
             Json row = Json::array();
             row.push(point.time_ns);
             row.push(point.min);
             row.push(point.mean);
             row.push(point.max);
             return row;
           }));
  return json;
}

Json to_json(const analysis::Unknown& unknown) {
  Json json = Json::object();
  json.set("unknown", unknown.reason);
  if (!unknown.remedy.empty()) json.set("hint", unknown.remedy);
  return json;
}

namespace {

Json to_json(const analysis::Evidence& evidence) {
  Json json = Json::object();
  json.set("text", evidence.text);
  if (!evidence.kernel.empty()) json.set("kernel", evidence.kernel);
  if (!evidence.scope.empty()) json.set("scope", evidence.scope);
  if (!evidence.file.empty()) json.set("file", evidence.file);
  if (evidence.line > 0) json.set("line", evidence.line);
  if (evidence.device) json.set("device", *evidence.device);
  if (evidence.start_ns) json.set("start_ns", *evidence.start_ns);
  if (evidence.end_ns) json.set("end_ns", *evidence.end_ns);
  return json;
}

}  // namespace

Json to_json(const analysis::Insight& insight) {
  Json json = Json::object();
  json.set("rule", insight.rule).set("category", to_string(insight.category));
  json.set("severity", to_string(insight.severity)).set("title", insight.title);
  json.set("detail", insight.detail).set("advice", insight.advice);
  json.set("gain_ns", json_optional(insight.gain_ns)).set("gain_share", insight.gain_share);
  json.set("gain_of", insight.gain_of);
  json.set("estimate", insight.estimate).set("confidence", to_string(insight.confidence));
  json.set("evidence", json_array(insight.evidence,
                                  [](const analysis::Evidence& entry) { return to_json(entry); }));
  return json;
}

Json session_json(const analysis::SessionSummary& summary) {
  const format::SessionHeader& header = summary.header;
  Json json = Json::object();
  json.set("id", header.session_id).set("run", header.run_id).set("app", header.app_name);
  json.set("engine", header.engine).set("backend", header.backend);
  if (header.backends.size() > 1) {
    json.set("backends", json_array(header.backends, [](const format::SessionBackend& one) {
               return Json::object().set("name", one.name).set("engine", one.engine);
             }));
  }
  if (analysis::is_pass(header)) {
    json.set("pass", *header.pass).set("passes", json_array(header.passes, [](const auto& engine) {
                                         return Json(engine);
                                       }));
  }
  json.set("gpufl_version", header.gpufl_version);
  json.set("start_wall_ns", std::to_string(header.start_wall_ns));
  json.set("duration_ns", summary.duration_ns);
  json.set("duration_is_lower_bound", !summary.ended);
  json.set("ended", summary.ended ? "cleanly" : summary.live ? "not_yet" : "cut_off");
  json.set("pid", header.pid).set("process", header.process).set("command", header.command);
  json.set("host", header.host).set("os", header.os).set("container", header.container);
  json.set("rank", json_optional(header.rank));
  json.set("world_size", json_optional(header.world_size));
  json.set("local_rank", json_optional(header.local_rank));
  json.set("log", summary.dir.string());
  return json;
}

Json capabilities_json(const analysis::SessionSummary& summary) {
  return json_array(summary.capabilities, [](const analysis::Capability& capability) {
    Json json = Json::object();
    json.set("feature", capability.feature).set("asked", capability.asked);
    json.set("got", capability.got).set("as_asked", capability.is_as_asked());
    json.set("reason", capability.reason).set("detail", capability.detail);
    json.set("hint", capability.hint);
    if (!capability.backend.empty()) json.set("backend", capability.backend);
    return json;
  });
}

Json option_warnings_json(const analysis::SessionSummary& summary) {
  Json list = Json::array();
  for (const Json& event : summary.events) {
    if (event["name"].as_string() == "option_warning") list.push(event);
  }
  return list;
}

Json ledger_json(const analysis::SessionSummary& summary) {
  const std::string verdict = ledger_verdict(summary).text;
  const size_t colon = verdict.find(": ");
  Json json = Json::object();
  json.set("verdict", verdict.substr(0, colon));
  json.set("meaning", verdict.substr(colon + 2));
  Json rows = Json::object();
  for (const auto& [kind, count] : summary.rows) rows.set(kind, count);
  json.set("rows_read", std::move(rows));
  json.set("numbers", summary.ledger ? summary.ledger->to_json() : Json());
  json.set("problem_count", summary.problem_count);
  json.set("problems", json_array(summary.problems, [](const format::Problem& problem) {
             Json entry = Json::object();
             entry.set("kind", format::to_string(problem.kind)).set("file", problem.file);
             entry.set("line", problem.line).set("text", problem.text);
             return entry;
           }));
  return json;
}

void write_markers(JsonWriter& out, const analysis::SessionSummary& summary) {
  const bool is_lower_bound = analysis::lost_markers(summary).has_value();
  write_list(out, "markers", summary.markers, [&](const analysis::MarkerTotal& marker) {
    Json json = Json::object();
    json.set("name", marker.name).set("domain", marker.domain).set("marks", marker.marks);
    json.set("range_ns", to_json(marker.duration_ns));
    json.set("open", marker.open).set("open_ns", marker.open_ns);
    return json.set("is_lower_bound", is_lower_bound);
  });
}

}  // namespace gpufl::report
