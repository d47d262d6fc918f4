// SPDX-License-Identifier: Apache-2.0
#include "report/json_report.hpp"

#include <utility>

#include "analysis/overview/run_work.hpp"
#include "report/json_figures.hpp"

namespace gpufl::report {
namespace {

using base::Json;
using base::JsonWriter;

// A line with one object, whose members `write` writes.
template <typename Write>
std::string document(std::string_view kind, Write write) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.set("format", "gpufl-report").set("version", kJsonReportVersion).set("kind", kind);
  write(json);
  json.end();
  text += '\n';
  return text;
}

Json options_json(const analysis::AnalysisOptions& options) {
  Json json = Json::object();
  json.set("device", json_optional(options.device));
  json.set("scope", options.scope.empty() ? Json() : Json(options.scope));
  Json window;
  if (options.window) {
    window = Json::object();
    window.set("start_ns", options.window->start).set("end_ns", options.window->end);
  }
  return json.set("window", std::move(window));
}

Json insights_json(std::span<const analysis::Insight> insights) {
  return json_array(insights, [](const analysis::Insight& insight) { return to_json(insight); });
}

// What a session's document and a rank of a run's have in common.
void write_figures(JsonWriter& json, const SessionReport& report) {
  const analysis::SessionSummary& summary = report.session.summary;
  const analysis::Overview& overview = report.overview;
  json.set("session", session_json(summary));
  if (report.session.passes) json.set("passes", passes_json(*report.session.passes));
  json.set("option_warnings", option_warnings_json(summary));
  json.set("machine", summary.host_facts);
  write_list(json, "devices", summary.devices, device_line_json);
  json.set("capabilities", capabilities_json(summary));
  json.set("ledger", ledger_json(summary));
  json.set("coverage", coverage_json(report));
  json.set("deep_windows", deep_windows_json(summary));
  json.set("gpu_time", gpu_time_json(overview));
  write_kernels(json, report);
  json.set("transfers", transfers_json(overview.transfers));
  write_waits(json, report);
  write_scopes(json, report);
  write_iterations(json, overview.iterations);
  json.set("launch_latency", latency_json(overview.latency));
  write_api_calls(json, overview);
  json.set("memory", memory_json(overview));
  json.set("communication", communication_json(overview));
  write_markers(json, summary);
  write_metrics(json, overview);
  write_counters(json, overview);
  write_samples(json, report);
  write_stalls(json, overview);
  write_hardware_counters(json, overview);
  write_warps(json, overview);
  write_list(json, "events", summary.events);
}

Json imbalance_json(const analysis::Figure<analysis::Imbalance>& figure) {
  return json_figure(figure, [](const analysis::Imbalance& imbalance) {
    Json json = Json::object();
    json.set("mean", imbalance.mean).set("min", imbalance.min).set("max", imbalance.max);
    return json.set("slowest", uint64_t{imbalance.slowest}).set("share", imbalance.share);
  });
}

void write_rank(JsonWriter& json, const analysis::RankFigures& rank) {
  json.set("rank", json_optional(rank.rank));
  json.set("busy_ns", json_figure(rank.busy_ns)).set("kernel_ns", json_figure(rank.kernel_ns));
  json.set("wait_ns", json_figure(rank.wait_ns));
  json.set("communication_ns", json_figure(rank.communication_ns));
  json.set("iteration_ns", json_figure(rank.iteration_ns));
}

Json run_kernel_json(const analysis::RunKernel& kernel) {
  Json json = Json::object();
  json.set("label", kernel.label).set("full_name", kernel.full_name);
  json.set("class", to_string(kernel.kernel_class));
  json.set("count", kernel.count).set("total_ns", kernel.total_ns);
  json.set("share", kernel.share).set("min_rank_ns", kernel.min_rank_ns);
  return json.set("max_rank_ns", kernel.max_rank_ns);
}

}  // namespace

std::string json_report(const SessionReport& report) {
  return document("session", [&](JsonWriter& json) {
    json.set("options", options_json(report.overview.options));
    write_figures(json, report);
    json.set("insights", insights_json(report.insights));
  });
}

std::string json_run_report(const RunReport& report) {
  const analysis::RunOverview& overview = report.overview;
  return document("run", [&](JsonWriter& json) {
    json.set("id", report.run.id);
    write_list(json, "kernels", run_kernels(overview), run_kernel_json);
    json.begin_object("imbalance");
    json.set("busy", imbalance_json(overview.busy));
    json.set("compute", imbalance_json(overview.compute));
    json.set("iteration", imbalance_json(overview.iteration));
    json.end();
    json.begin_array("ranks");
    for (size_t i = 0; i < overview.ranks.size() && i < report.run.sessions.size(); ++i) {
      json.begin_object();
      write_rank(json, overview.ranks[i]);
      json.set("offset_ns", report.run.offset_ns[i]);
      write_figures(json, {report.run.sessions[i], overview.ranks[i].overview, {}});
      if (i < report.of_sessions.size()) {
        json.set("insights", insights_json(report.of_sessions[i]));
      }
      json.end();
    }
    json.end();
    json.set("insights", insights_json(report.insights));
    write_list(json, "problems", report.run.problems);
  });
}

}  // namespace gpufl::report
