// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/math/distribution.hpp"
#include "analysis/math/figure.hpp"
#include "analysis/math/series.hpp"
#include "analysis/math/stats_json.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "report/session_report.hpp"

// The parts of a JSON report. Pure functions.
namespace gpufl::report {

base::Json to_json(const analysis::Distribution& distribution);
base::Json to_json(const analysis::Series& series);
base::Json to_json(const analysis::Unknown& unknown);
base::Json to_json(const analysis::Insight& insight);
base::Json to_json(const analysis::KernelGroup& group);
// The same of one kernel, with its class.
base::Json kernel_json(const analysis::KernelGroup& kernel);

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

// A list that may be long, as a member of the object that is open: no more than one entry of it is
// held as a Json.
template <typename List, typename Make>
void write_list(base::JsonWriter& json, std::string_view key, const List& list, Make make) {
  json.begin_array(key);
  for (const auto& entry : list) json.push(make(entry));
  json.end();
}
template <typename List>
void write_list(base::JsonWriter& json, std::string_view key, const List& list) {
  write_list(json, key, list, [](const auto& entry) { return base::Json(entry); });
}
// The same of one that may be unknown.
template <typename List, typename Make>
void write_list_figure(base::JsonWriter& json, std::string_view key,
                       const analysis::Figure<List>& figure, Make make) {
  if (figure) {
    write_list(json, key, *figure, make);
  } else {
    json.set(key, to_json(figure.unknown()));
  }
}
// An object whose members `write` writes, or why there is none.
template <typename T, typename Write>
void write_figure(base::JsonWriter& json, std::string_view key, const analysis::Figure<T>& figure,
                  Write write) {
  if (!figure) {
    json.set(key, to_json(figure.unknown()));
    return;
  }
  json.begin_object(key);
  write(*figure);
  json.end();
}

// Parts of the document that are small,
// Of a program that ran in several passes: what each gave, and where they differ.
base::Json passes_json(const analysis::MergedPasses& passes);
base::Json session_json(const analysis::SessionSummary& summary);
base::Json capabilities_json(const analysis::SessionSummary& summary);
base::Json option_warnings_json(const analysis::SessionSummary& summary);
base::Json ledger_json(const analysis::SessionSummary& summary);
base::Json coverage_json(const analysis::Coverage& coverage);
base::Json coverage_json(const SessionReport& report);  // also by engine
base::Json deep_windows_json(const analysis::SessionSummary& summary);
// `pieces`: "phases", "windows".
base::Json estimate_json(const analysis::Estimate& estimate, std::string_view pieces);
// A `device` line, and what its multiprocessors have where that is known.
base::Json device_line_json(const base::Json& device);
base::Json gpu_time_json(const analysis::Overview& overview);
base::Json transfers_json(const analysis::TransferFigures& transfers);
base::Json latency_json(const analysis::LaunchLatency& latency);
base::Json memory_json(const analysis::Overview& overview);
base::Json communication_json(const analysis::Overview& overview);
// and those that grow with the session, each written as one member.
void write_markers(base::JsonWriter& json, const analysis::SessionSummary& summary);
void write_kernels(base::JsonWriter& json, const SessionReport& report);
void write_waits(base::JsonWriter& json, const SessionReport& report);
void write_scopes(base::JsonWriter& json, const SessionReport& report);
void write_iterations(base::JsonWriter& json,
                      const analysis::Figure<analysis::Iterations>& iterations);
void write_api_calls(base::JsonWriter& json, const analysis::Overview& overview);
void write_metrics(base::JsonWriter& json, const analysis::Overview& overview);
void write_counters(base::JsonWriter& json, const analysis::Overview& overview);
void write_samples(base::JsonWriter& json, const SessionReport& report);
void write_stalls(base::JsonWriter& json, const analysis::Overview& overview);
void write_hardware_counters(base::JsonWriter& json, const analysis::Overview& overview);
void write_warps(base::JsonWriter& json, const analysis::Overview& overview);

}  // namespace gpufl::report
