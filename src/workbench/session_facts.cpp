// SPDX-License-Identifier: Apache-2.0
#include "workbench/session_facts.hpp"

#include <algorithm>
#include <utility>

#include "format/batch_codec.hpp"
#include "format/limits.hpp"
#include "report/json_figures.hpp"

namespace gpufl::workbench {

using base::Json;

void FactsReader::add_object(std::string_view text) {
  const format::KindSpec* const kind = format::find_kind(format::line_type(text));
  auto line = Json::parse(text, format::kMaxObjectLineBytes);
  if (kind == nullptr || !line || !line->is_object()) return;
  if (const auto told = first_told_.take(kind->kind, std::move(*line))) {
    summary_.on_object(kind->kind, *told);
  }
}

void FactsReader::add_coverage(const format::Batch& batch,
                               const format::Dictionaries& dictionaries) {
  summary_.on_batch(batch, dictionaries);
}

Json FactsReader::finish(const SessionFacts& facts) {
  for (const format::WindowFile& file : facts.files) summary_.on_window(file);
  for (const format::Problem& problem : facts.problems) summary_.on_problem(problem);
  analysis::SessionSummary summary = summary_.finish();
  summary.header = facts.header;
  summary.dir = facts.dir;
  summary.live = facts.is_live;
  if (!summary.ended) summary.duration_ns = std::max(summary.duration_ns, facts.last_ns);
  summary.rows.clear();
  for (const auto& [kind, rows] : facts.rows) {
    summary.rows[std::string(format::spec(kind).name)] = rows;
  }
  Json counts = Json::object();
  for (const auto& [name, count] : summary.event_counts) counts.set(name, count);
  Json json = Json::object();
  json.set("session", report::session_json(summary));
  json.set("devices", report::json_array(summary.devices, report::device_line_json));
  json.set("capabilities", report::capabilities_json(summary));
  json.set("ledger", report::ledger_json(summary));
  json.set("events", report::json_array(summary.events));
  return json.set("event_counts", std::move(counts));
}

}  // namespace gpufl::workbench
