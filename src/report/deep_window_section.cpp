// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "report/json_figures.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::DeepWindowFact;
using analysis::DeepWindowTotals;
using base::Json;

std::string armed_text(const Json& armed) {
  std::string text = armed["only"].as_bool()
                         ? "outside of deep windows all is recorded as with Trace"
                         : "the engine is attached outside of deep windows, too";
  if (armed["after_ns"].is_integer()) {
    text += "; one was to open " + duration_text(armed["after_ns"].as_integer()) +
            " after the session's start";
  }
  if (armed["condition"].is_string()) {
    text += "; one was to open when " + armed["condition"].as_string();
  }
  return text;
}

std::string opened_text(const DeepWindowFact& window) {
  if (window.condition.empty()) return window.opened_by;
  return window.seen
             ? fmt::format("{}, seen {}", window.condition, text::signed_count(*window.seen))
             : window.condition;
}

std::string launches_text(const std::optional<uint64_t>& launches) {
  return launches ? text::count(*launches) : "unknown";
}

std::string totals_text(const DeepWindowTotals& totals) {
  std::string text =
      fmt::format("{} ({}", text::count(totals.count), duration_text(totals.duration_ns));
  if (totals.launches) text += ", " + text::plural(*totals.launches, "launch");
  return text + ")";
}

}  // namespace

void write_deep_windows(Page& page, const analysis::SessionSummary& summary, size_t top) {
  const DeepWindowTotals& totals = summary.deep_windows;
  const Json* const armed = summary.armed_windows();
  if (totals.count == 0 && armed == nullptr) return;
  page.heading("DEEP WINDOWS", totals.count == 0 ? "none opened" : totals_text(totals));
  if (armed != nullptr) page.paragraph(2, armed_text(*armed) + ".", Tone::Plain, 2);
  TextTable table{{{"window", true},
                   {"begins at"},
                   {"lasts"},
                   {"launches"},
                   {"engine", true},
                   {"opened by", true},
                   {"closed by", true},
                   {"ignored", false, 1}},
                  {},
                  5};
  for (const DeepWindowFact& window : totals.windows) {
    if (table.rows.size() >= top) break;
    table.rows.push_back(
        {window.name.empty() ? fmt::format("#{}", table.rows.size() + 1) : window.name,
         duration_text(window.start_ns), duration_text(window.duration_ns),
         launches_text(window.launches), window.engine.empty() ? "none" : window.engine,
         opened_text(window), window.closed_by,
         window.ignored == 0 ? "-" : text::count(window.ignored)});
  }
  if (table.rows.empty()) return;
  table.drop_empty_columns();
  page.table(table);
  write_more(page, totals.count, table.rows.size());
  for (size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& why = totals.windows[row].limit;
    if (why.empty()) continue;
    page.paragraph(2, "! " + table.rows[row][0] + ": an engine was not attached: " + why,
                   Tone::Warning, 2);
  }
}

void write_deep_windows_briefly(Page& page, const analysis::SessionSummary& summary) {
  const DeepWindowTotals& totals = summary.deep_windows;
  if (totals.count > 0) {
    page.field("deep windows", totals_text(totals));
  } else if (summary.armed_windows() != nullptr) {
    page.field("deep windows", "none opened");
  }
}

Json deep_windows_json(const analysis::SessionSummary& summary) {
  const DeepWindowTotals& totals = summary.deep_windows;
  const Json* const armed_line = summary.armed_windows();
  Json armed;
  if (armed_line != nullptr) {
    armed = Json::object();
    armed.set("only", (*armed_line)["only"].as_bool());
    armed.set("after_ns", (*armed_line)["after_ns"]).set("condition", (*armed_line)["condition"]);
  }
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json() : Json(text);
  };
  Json json = Json::object();
  json.set("armed", std::move(armed)).set("count", totals.count);
  json.set("duration_ns", totals.duration_ns).set("launches", json_optional(totals.launches));
  json.set("list", json_array(totals.windows, [&](const DeepWindowFact& window) {
             Json entry = Json::object();
             entry.set("name", text_or_null(window.name)).set("start_ns", window.start_ns);
             entry.set("duration_ns", window.duration_ns);
             entry.set("launches", json_optional(window.launches));
             entry.set("engine", text_or_null(window.engine));
             entry.set("opened_by", window.opened_by).set("closed_by", window.closed_by);
             entry.set("condition", text_or_null(window.condition));
             entry.set("seen", json_optional(window.seen));
             entry.set("reason", text_or_null(window.limit));
             return entry.set("ignored", window.ignored);
           }));
  return json;
}

}  // namespace gpufl::report
