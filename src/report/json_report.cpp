// SPDX-License-Identifier: Apache-2.0
#include "report/json_report.hpp"

#include <utility>

#include "analysis/overview/run_work.hpp"
#include "report/json_figures.hpp"

namespace gpufl::report {
namespace {

using base::Json;

Json document(std::string_view kind) {
  Json json = Json::object();
  json.set("format", "gpufl-report").set("version", kJsonReportVersion).set("kind", kind);
  return json;
}

Json options_json(const analysis::AnalysisOptions& options) {
  Json json = Json::object();
  json.set("device", json_optional(options.device));
  json.set("scope", options.scope.empty() ? Json() : Json(options.scope));
  return json;
}

Json insights_json(std::span<const analysis::Insight> insights) {
  return json_array(insights, [](const analysis::Insight& insight) { return to_json(insight); });
}

// What a session's document and a rank of a run's have in common.
void set_figures(Json& json, const SessionReport& report) {
  const analysis::SessionSummary& summary = report.session.summary;
  const analysis::Overview& overview = report.overview;
  json.set("session", session_json(summary));
  json.set("machine", summary.host_facts);
  json.set("devices", json_array(summary.devices));
  json.set("capabilities", capabilities_json(summary));
  json.set("ledger", ledger_json(summary));
  json.set("gpu_time", gpu_time_json(overview));
  json.set("kernels", kernels_json(report));
  json.set("transfers", transfers_json(overview.transfers));
  json.set("waits", waits_json(report));
  json.set("scopes", scopes_json(overview));
  json.set("iterations", iterations_json(overview.iterations));
  json.set("launch_latency", latency_json(overview.latency));
  json.set("api_calls", api_calls_json(overview));
  json.set("memory", memory_json(overview));
  json.set("communication", communication_json(overview));
  json.set("markers", markers_json(summary));
  json.set("metrics", metrics_json(overview));
  json.set("counters", counters_json(overview));
  json.set("samples", samples_json(report));
  json.set("warps", warps_json(overview));
  json.set("events", json_array(summary.events));
}

Json imbalance_json(const analysis::Figure<analysis::Imbalance>& figure) {
  return json_figure(figure, [](const analysis::Imbalance& imbalance) {
    Json json = Json::object();
    json.set("mean", imbalance.mean).set("min", imbalance.min).set("max", imbalance.max);
    return json.set("slowest", uint64_t{imbalance.slowest}).set("share", imbalance.share);
  });
}

Json rank_json(const analysis::RankFigures& rank) {
  Json json = Json::object();
  json.set("rank", json_optional(rank.rank));
  json.set("busy_ns", json_figure(rank.busy_ns)).set("kernel_ns", json_figure(rank.kernel_ns));
  json.set("wait_ns", json_figure(rank.wait_ns));
  json.set("communication_ns", json_figure(rank.communication_ns));
  return json.set("iteration_ns", json_figure(rank.iteration_ns));
}

std::string line(const Json& json) {
  std::string text;
  json.dump_to(text);
  text += '\n';
  return text;
}

}  // namespace

std::string json_report(const SessionReport& report) {
  Json json = document("session");
  json.set("options", options_json(report.overview.options));
  set_figures(json, report);
  json.set("insights", insights_json(report.insights));
  return line(json);
}

std::string json_run_report(const RunReport& report) {
  const analysis::RunOverview& overview = report.overview;
  Json json = document("run");
  json.set("id", report.run.id);
  json.set("kernels", json_array(run_kernels(overview), [](const analysis::RunKernel& kernel) {
             Json entry = Json::object();
             entry.set("label", kernel.label).set("full_name", kernel.full_name);
             entry.set("class", to_string(kernel.kernel_class));
             entry.set("count", kernel.count).set("total_ns", kernel.total_ns);
             entry.set("share", kernel.share).set("min_rank_ns", kernel.min_rank_ns);
             return entry.set("max_rank_ns", kernel.max_rank_ns);
           }));
  Json imbalance = Json::object();
  imbalance.set("busy", imbalance_json(overview.busy));
  imbalance.set("compute", imbalance_json(overview.compute));
  imbalance.set("iteration", imbalance_json(overview.iteration));
  json.set("imbalance", std::move(imbalance));
  Json ranks = Json::array();
  for (size_t i = 0; i < overview.ranks.size() && i < report.run.sessions.size(); ++i) {
    Json rank = rank_json(overview.ranks[i]);
    rank.set("offset_ns", report.run.offset_ns[i]);
    set_figures(rank, {report.run.sessions[i], overview.ranks[i].overview, {}});
    if (i < report.of_sessions.size()) rank.set("insights", insights_json(report.of_sessions[i]));
    ranks.push(std::move(rank));
  }
  json.set("ranks", std::move(ranks));
  json.set("insights", insights_json(report.insights));
  json.set("problems", json_array(report.run.problems));
  return line(json);
}

}  // namespace gpufl::report
