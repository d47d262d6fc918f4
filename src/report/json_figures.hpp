// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/math/distribution.hpp"
#include "analysis/math/figure.hpp"
#include "analysis/math/series.hpp"
#include "analysis/math/stats.hpp"
#include "base/json.hpp"
#include "report/session_report.hpp"

// The parts of a JSON report. Called by json_report.cpp and each other only; pure functions.
namespace gpufl::report {

base::Json to_json(const analysis::Stats& stats);
base::Json to_json(const analysis::Distribution& distribution);
base::Json to_json(const analysis::Series& series);
base::Json to_json(const analysis::Unknown& unknown);
base::Json to_json(const analysis::Insight& insight);

// Objects of a list, each made by `make`.
template <typename List, typename Make>
base::Json json_array(const List& list, Make make) {
  base::Json array = base::Json::array();
  for (const auto& entry : list) array.push(make(entry));
  return array;
}
template <typename List>
base::Json json_array(const List& list) {
  return json_array(list, [](const auto& entry) { return base::Json(entry); });
}
// What `make` makes of the figure, or why there is none.
template <typename T, typename Make>
base::Json json_figure(const analysis::Figure<T>& figure, Make make) {
  return figure ? base::Json(make(*figure)) : to_json(figure.unknown());
}
template <typename T>
base::Json json_figure(const analysis::Figure<T>& figure) {
  return json_figure(figure, [](const T& value) { return base::Json(value); });
}
// The value, or null.
template <typename T>
base::Json json_optional(const std::optional<T>& value) {
  return value ? base::Json(*value) : base::Json();
}

// Parts of the document.
base::Json session_json(const analysis::SessionSummary& summary);
base::Json capabilities_json(const analysis::SessionSummary& summary);
base::Json ledger_json(const analysis::SessionSummary& summary);
base::Json markers_json(const analysis::SessionSummary& summary);
base::Json gpu_time_json(const analysis::Overview& overview);
base::Json kernels_json(const SessionReport& report);
base::Json transfers_json(const analysis::TransferFigures& transfers);
base::Json waits_json(const SessionReport& report);
base::Json scopes_json(const analysis::Overview& overview);
base::Json iterations_json(const analysis::Figure<analysis::Iterations>& iterations);
base::Json latency_json(const analysis::LaunchLatency& latency);
base::Json api_calls_json(const analysis::Overview& overview);
base::Json memory_json(const analysis::Overview& overview);
base::Json communication_json(const analysis::Overview& overview);
base::Json metrics_json(const analysis::Overview& overview);
base::Json counters_json(const analysis::Overview& overview);
base::Json samples_json(const SessionReport& report);
base::Json warps_json(const analysis::Overview& overview);

}  // namespace gpufl::report
