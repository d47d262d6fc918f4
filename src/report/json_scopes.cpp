// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "report/json_figures.hpp"

namespace gpufl::report {
namespace {

using analysis::ScopeItem;
using analysis::ScopeWork;
using base::Json;
using base::JsonWriter;

Json work_json(const analysis::ActivityTotals& work) {
  Json json = Json::object();
  json.set("gpu_ns", work.gpu_ns());
  json.set("kernels", work.kernels).set("kernel_ns", work.kernel_ns);
  json.set("copies", work.copies)
      .set("copy_ns", work.copy_ns)
      .set("copy_bytes",
           work.copies > 0 && work.unsized_copies == work.copies ? Json() : work.copy_bytes);
  json.set("fills", work.fills).set("fill_ns", work.fill_ns);
  return json.set("waits", work.waits).set("wait_ns", work.wait_ns);
}

Json item_json(const ScopeItem& item) {
  Json json = Json::object();
  return json.set("label", item.label).set("count", item.count).set("total_ns", item.total_ns);
}

Json counter_json(const analysis::ScopeCounter& counter, const analysis::Tables& tables) {
  Json json = Json::object();
  json.set("name", tables.name(counter.name));
  if (!counter.growth) {
    const Json unknown = to_json(analysis::unsampled_growth());
    return json.set("increase", unknown).set("per_second", unknown);
  }
  return json.set("increase", counter.growth->increase)
      .set("per_second", counter.growth->per_second);
}

Json scope_json(const ScopeWork& scope, const SessionReport& report) {
  const analysis::Overview& overview = report.overview;
  Json json = Json::object();
  json.set("path", scope.path).set("name", scope.name).set("tag", scope.tag);
  json.set("depth", scope.depth);
  json.set("parent", scope.parent == UINT32_MAX ? Json() : Json(scope.parent));
  json.set("duration_ns", to_json(scope.duration_ns)).set("span_ns", scope.span_ns);
  json.set("duration_stats_ns", to_json(scope.duration_stats_ns));
  if (scope.iteration_ns.count > 0) {
    json.set("iteration_ns", to_json(scope.iteration_ns)).set("warmup", scope.warmup);
    json.set("iteration_gpu_ns", json_figure(scope.iteration_gpu_ns));
  }
  json.set("is_lower_bound", overview.lost_scopes.has_value());
  json.set("cut", scope.cut).set("lost", scope.lost);
  json.set("open", scope.open).set("open_ns", scope.open_ns);
  // Known where the session records GPU work.
  const auto set_work = [&](std::string_view key, Json value) {
    json.set(key, overview.kernels ? std::move(value) : to_json(overview.kernels.unknown()));
  };
  set_work("own", work_json(scope.own));
  set_work("total", work_json(scope.total));
  set_work("busy_ns", scope.busy_ns);
  set_work("kernels", json_array(scope.kernels, item_json));
  set_work("kernel_names", scope.kernel_names);
  set_work("waits", json_array(scope.waits, item_json));
  json.set("mean_launch_ns", json_figure(scope.mean_launch_ns));
  json.set("energy_joules", json_figure(scope.energy_joules));
  const analysis::ScopeCounters& counters = scope.counters;
  json.set("counters", json_array(counters.list, [&](const analysis::ScopeCounter& counter) {
             return counter_json(counter, report.session.tables);
           }));
  const auto is_known = [](const analysis::ScopeCounter& counter) { return counter.growth; };
  const auto known = std::count_if(counters.list.begin(), counters.list.end(), is_known);
  const uint64_t listed = counters.list.size() - static_cast<uint64_t>(known);
  if (counters.unknown > listed) json.set("unlisted_counters", counters.unknown - listed);
  return json;
}

}  // namespace

void write_scopes(JsonWriter& out, const SessionReport& report) {
  write_list(out, "scopes", report.overview.scopes,
             [&](const ScopeWork& scope) { return scope_json(scope, report); });
}

void write_iterations(JsonWriter& out, const analysis::Figure<analysis::Iterations>& iterations) {
  write_figure(out, "iterations", iterations, [&](const analysis::Iterations& found) {
    out.set("source", to_string(found.source)).set("label", found.label);
    out.set("coverage", found.coverage).set("warmups", found.warmups);
    out.set("is_lower_bound", found.is_lower_bound);
    out.set("duration_ns", to_json(found.duration_ns));
    out.set("kernel_ns", json_figure(found.kernel_ns,
                                     [](const analysis::Stats& stats) { return to_json(stats); }));
    write_list(out, "list", found.list, [&](const analysis::Iteration& iteration) {
      Json entry = Json::object();
      entry.set("start_ns", iteration.span.start).set("end_ns", iteration.span.end);
      entry.set("is_warmup", iteration.is_warmup).set("is_cut", iteration.is_cut);
      const auto known = [&](int64_t value) { return found.kernel_ns ? Json(value) : Json(); };
      return entry.set("kernels", known(iteration.kernels))
          .set("kernel_ns", known(iteration.kernel_ns));
    });
  });
}

void write_metrics(JsonWriter& out, const analysis::Overview& overview) {
  write_list(out, "metrics", overview.metrics, [](const analysis::MetricFigures& metric) {
    Json json = Json::object();
    json.set("device", json_optional(metric.device)).set("metric", metric.metric);
    json.set("index", metric.index).set("values", to_json(metric.values));
    json.set("is_cumulative", analysis::is_cumulative(metric.metric));
    json.set("first", metric.first).set("last", metric.last);
    json.set("first_ns", metric.first_ns).set("last_ns", metric.last_ns);
    if (!metric.bit_samples.empty()) json.set("bit_samples", json_array(metric.bit_samples));
    return json.set("series", to_json(metric.series));
  });
}

void write_counters(JsonWriter& out, const analysis::Overview& overview) {
  write_list(out, "counters", overview.counters, [](const analysis::CounterFigures& counter) {
    Json json = Json::object();
    json.set("name", counter.name).set("samples", counter.samples);
    json.set("first", counter.first).set("last", counter.last);
    json.set("increase", counter.increase());
    json.set("per_second", json_optional(counter.per_second()));
    return json.set("rate", to_json(counter.rate));
  });
}

}  // namespace gpufl::report
