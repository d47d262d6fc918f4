// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/code/stall_reasons.hpp"
#include "report/json_figures.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::SampledFunction;
using analysis::StallFigures;
using analysis::StallShare;
using base::Json;
using base::JsonWriter;

constexpr size_t kShownStalls = 3;
constexpr double kWorthNaming = 0.02;
constexpr size_t kShownScopes = 3;

// Those that wait, most samples first; warps that issue, or could, are not stalled.
std::vector<const StallShare*> top_stalls(const SampledFunction& function) {
  std::vector<const StallShare*> top;
  for (const StallShare& stall : function.stalls) {
    if (top.size() == kShownStalls) break;
    if (stall.count.samples > 0 && analysis::stall_reason(stall.reason).is_wait) {
      top.push_back(&stall);
    }
  }
  return top;
}

// "long_scoreboard ~40.0% ±1.2%, wait ~12.0%": names of kernels need the room. The second only
// where it matters.
std::string stalls_text(const SampledFunction& function) {
  const auto top = top_stalls(function);
  if (top.empty()) return "-";
  std::string text = top[0]->reason + " " + estimate_text(top[0]->share);
  if (top.size() > 1 && top[1]->share.value >= kWorthNaming) {
    text += fmt::format(", {} ~{}", top[1]->reason, text::percent(top[1]->share.value));
  }
  return text;
}

std::string devices_text(const SampledFunction& function) {
  std::string text;
  for (const auto& [device, samples] : function.by_device) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ",
                        device < 0 ? "?" : std::to_string(device), text::count(samples));
  }
  return text;
}

void write_meanings(Page& page, const StallFigures& stalls, size_t shown) {
  std::set<std::string_view> told;
  for (const SampledFunction& function : stalls.functions) {
    if (shown-- == 0 || told.size() == kShownStalls) return;
    const auto top = top_stalls(function);
    if (top.empty() || !told.insert(top.front()->reason).second) continue;
    const analysis::StallReason reason = analysis::stall_reason(top.front()->reason);
    if (reason.meaning.empty()) continue;
    page.paragraph(2, fmt::format("{}: {}", reason.name, reason.meaning), Tone::Plain, 2);
  }
}

void write_scope_samples(Page& page, const StallFigures& stalls) {
  if (stalls.scopes.empty() || stalls.samples == 0) return;
  std::string text;
  for (size_t i = 0; i < std::min(kShownScopes, stalls.scopes.size()); ++i) {
    const analysis::ScopeSamples& scope = stalls.scopes[i];
    text +=
        fmt::format("{}{} {}{}", i == 0 ? "" : ", ", scope.path.empty() ? "(no scope)" : scope.path,
                    scope.estimated > 0 ? "~" : "",
                    text::percent(scope.samples() / static_cast<double>(stalls.samples)));
  }
  page.paragraph(2, "Samples by scope, estimated from the kernels' traced time: " + text + ".",
                 Tone::Plain, 2);
}

Json function_json(const SampledFunction& function) {
  Json json = Json::object();
  json.set("label", function.label).set("full_name", function.full_name);
  json.set("samples", function.samples);
  json.set("share", json_figure(function.share, [](const analysis::Estimate& share) {
             return estimate_json(share, "windows");
           }));
  json.set("devices", json_array(function.by_device, [](const auto& device) {
             Json entry = Json::object();
             return entry.set("device", device.first).set("samples", device.second);
           }));
  json.set("stalls", json_array(function.stalls, [](const StallShare& stall) {
             Json entry = Json::object();
             entry.set("reason", stall.reason);
             entry.set("meaning", analysis::stall_reason(stall.reason).meaning);
             entry.set("samples", stall.count.samples).set("not_issued", stall.count.not_issued);
             return entry.set("share", estimate_json(stall.share, "windows"));
           }));
  json.set("hottest", json_array(function.hottest, [](const analysis::SampledInstruction& place) {
             Json entry = Json::object();
             entry.set("module", std::to_string(place.module)).set("pc", place.pc);
             return entry.set("samples", place.samples).set("reason", place.reason);
           }));
  return json;
}

Json scope_json(const analysis::ScopeSamples& scope) {
  Json stalls = Json::object();
  for (const auto& [reason, samples] : scope.stalls) stalls.set(reason, samples);
  Json json = Json::object();
  json.set("scope", scope.path.empty() ? Json() : Json(scope.path));
  json.set("exact", scope.exact).set("estimated", scope.estimated);
  return json.set("stalls", std::move(stalls));
}

}  // namespace

void write_stalls(Page& page, const SessionReport& report, size_t top, Detail detail) {
  if (!report.overview.stalls) return;
  const StallFigures& stalls = *report.overview.stalls;
  const auto& ledger = report.session.summary.ledger;
  std::string samples = ledger ? samples_text(*ledger) : std::string();
  if (samples.empty()) {
    samples = fmt::format("{} in {}", text::count(stalls.samples),
                          text::plural(stalls.windows, "window"));
  }
  const size_t all = stalls.functions.size();
  if (detail == Detail::Brief) {
    samples = fmt::format("{} samples", text::count(stalls.samples));
    if (all > top) samples += fmt::format(", the first {} of {}", top, text::plural(all, "kernel"));
  }
  page.heading("STALLS", samples);
  TextTable table{
      {{"kernel", true}, {"samples"}, {"of the run"}, {"by GPU", false, 1}, {"waits for", true}}};
  for (const SampledFunction& function : stalls.functions) {
    if (table.rows.size() == top) break;
    table.rows.push_back({function.label, text::count(function.samples),
                          function.share ? estimate_text(*function.share) : "unknown",
                          function.by_device.size() > 1 ? devices_text(function) : "",
                          stalls_text(function)});
  }
  table.drop_empty_columns();
  page.table(table);
  if (detail == Detail::Brief) return;
  write_more(page, all, table.rows.size());
  if (stalls.no_shares_because) {
    page.paragraph(2, "Shares of the run are unknown: " + *stalls.no_shares_because + ".",
                   Tone::Plain, 2);
  }
  write_meanings(page, stalls, table.rows.size());
  write_scope_samples(page, stalls);
}

void write_stalls(JsonWriter& out, const analysis::Overview& overview) {
  write_figure(out, "stalls", overview.stalls, [&](const StallFigures& stalls) {
    out.set("samples", stalls.samples).set("windows", stalls.windows);
    write_list(out, "kernels", stalls.functions, function_json);
    write_list(out, "scopes", stalls.scopes, scope_json);
    out.set("without_scope", stalls.without_scope);
  });
}

}  // namespace gpufl::report
