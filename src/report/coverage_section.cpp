// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "analysis/figures/coverage.hpp"
#include "report/json_figures.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::EngineCoverage;
using analysis::SessionSummary;
using base::Json;

// "1.234 s, 12.3% of the session"
std::string of_session(int64_t time_ns, const SessionSummary& summary) {
  std::string text = duration_text(time_ns);
  if (summary.duration_ns > 0) {
    text += fmt::format(
        ", {} of the session",
        text::percent(static_cast<double>(time_ns) / static_cast<double>(summary.duration_ns)));
  }
  return text;
}

std::string engine_text(const EngineCoverage& engine, const SessionSummary& summary) {
  std::string text;
  if (engine.phases > 0) {
    text = fmt::format("{} ({})", text::plural(engine.phases, "phase"),
                       of_session(engine.phase_ns, summary));
  }
  if (engine.windows > 0) {
    text +=
        fmt::format("{}{} ({})", text.empty() ? "" : "; ", text::plural(engine.windows, "window"),
                    of_session(engine.window_ns, summary));
  }
  return text;
}

// "2%", "0.5%"
std::string budget_text(int64_t ppm) {
  return fmt::format("{:g}%", static_cast<double>(ppm) / 10'000);
}

// Which measure it is, in words.
std::string_view measure_text(std::string_view measure) {
  if (measure == "calls") return "from our own calls and waits and the vendor's overhead records";
  if (measure == "steps") return "from the program's steps, inside phases compared with outside";
  return "from calls in some phases, from steps in others";
}

std::string cost_text(const EngineCoverage& engine, const SessionSummary& summary) {
  const analysis::CoverageCost cost = engine.cost();
  if (!cost.total_ns()) return "unknown";
  std::string text =
      fmt::format("{}, {}", of_session(*cost.total_ns(), summary), measure_text(cost.measure()));
  if (cost.unknown > 0) text += fmt::format("; unknown for {} more", text::count(cost.unknown));
  return text;
}

}  // namespace

std::string phases_text(const SessionSummary& summary) {
  const EngineCoverage all = summary.all_coverage();
  // One that lasts as long as the session is nothing to speak of.
  if (all.phases == 0 || (all.phases == 1 && !summary.is_budgeted())) return {};
  const auto whole_ns = static_cast<double>(std::max<int64_t>(1, summary.duration_ns));
  return analysis::phases_text(all.phases, static_cast<double>(all.phase_ns) / whole_ns);
}

std::string estimate_text(const analysis::Estimate& estimate) {
  const double reach = std::max(estimate.high - estimate.value, estimate.value - estimate.low);
  return fmt::format("~{} ±{}", text::percent(estimate.value), text::percent(reach));
}

void write_budget(Page& page, const SessionSummary& summary) {
  const auto& budget = summary.header.overhead_budget_ppm;
  if (!budget) return;
  const EngineCoverage all = summary.all_coverage();
  page.field("overhead budget",
             fmt::format("{} asked for; cost {}", budget_text(*budget), cost_text(all, summary)));
}

void write_coverage(Page& page, const SessionSummary& summary) {
  write_budget(page, summary);
  for (const EngineCoverage& engine : summary.coverage) {
    // Of an engine that was there all the time, and by nobody's measure, there is nothing to say.
    const bool is_plain =
        engine.phases <= 1 && engine.windows == 0 && !engine.is_paced && !engine.cost().total_ns();
    if (is_plain) continue;
    page.field(engine.engine + " attached", engine_text(engine, summary));
    page.field(engine.engine + " cost", cost_text(engine, summary));
  }
  if (const auto open = summary.open_phase()) {
    page.field("attached at the end",
               fmt::format("1 phase ({}) without a row; its engine and cost are unknown",
                           of_session(open->length(), summary)));
  }
  if (!summary.ledger) return;
  const format::Ledger& ledger = *summary.ledger;
  if (const std::string samples = samples_text(ledger); !samples.empty()) {
    page.field("program counter samples", samples);
  }
  if (ledger.launches_held.value_or(0) > 0) {
    std::string held =
        fmt::format("{}, {} in total, {} at most", text::count(*ledger.launches_held),
                    text::duration(static_cast<double>(ledger.launches_held_ns.value_or(0))),
                    text::duration(static_cast<double>(ledger.longest_hold_ns.value_or(0))));
    if (const uint64_t at_window_ns = ledger.longest_window_hold_ns.value_or(0)) {
      held += fmt::format("; {} at most by a window",
                          text::duration(static_cast<double>(at_window_ns)));
    }
    page.field("launches held", held);
  }
}

std::string samples_text(const format::Ledger& ledger) {
  if (!ledger.pc_samples && !ledger.sampling_windows) return {};
  std::string text = fmt::format("{} in {}", text::count(ledger.pc_samples.value_or(0)),
                                 text::plural(ledger.sampling_windows.value_or(0), "window"));
  const auto add = [&](const std::optional<uint64_t>& count, std::string_view what) {
    if (count.value_or(0) > 0) text += fmt::format("; {} {}", text::count(*count), what);
  };
  add(ledger.pc_samples_dropped, "dropped by the hardware");
  add(ledger.pc_samples_unlocated, "in code that the vendor keeps private");
  add(ledger.sampling_buffers_full, "windows lost to a full buffer");
  add(ledger.sampling_windows_skipped, "windows skipped because a launch did not return in time");
  return text;
}

Json estimate_json(const analysis::Estimate& estimate, std::string_view pieces) {
  Json json = Json::object();
  json.set("value", estimate.value).set("low", estimate.low).set("high", estimate.high);
  return json.set(pieces, estimate.pieces);
}

Json coverage_json(const analysis::Coverage& coverage) {
  Json json = Json::object();
  json.set("is_budgeted", coverage.is_budgeted);
  json.set("budget_ppm", json_optional(coverage.budget_ppm));
  json.set("phases", coverage.phases).set("covered_ns", coverage.covered_ns);
  json.set("whole_ns", coverage.whole_ns).set("share", coverage.share());
  return json.set("is_last_inferred", coverage.is_last_inferred);
}

Json coverage_json(const SessionReport& report) {
  const SessionSummary& summary = report.session.summary;
  Json json = coverage_json(report.overview.coverage);
  json.set("engines", json_array(summary.coverage, [](const EngineCoverage& engine) {
             Json entry = Json::object();
             entry.set("engine", engine.engine);
             entry.set("phases", engine.phases).set("phase_ns", engine.phase_ns);
             entry.set("windows", engine.windows).set("window_ns", engine.window_ns);
             const bool is_measured = engine.cost().total_ns().has_value();
             entry.set("cost_ns", json_optional(engine.cost().total_ns()));
             entry.set("measure", is_measured ? Json(engine.cost().measure()) : Json());
             return entry.set("samples", engine.samples).set("dropped", engine.dropped);
           }));
  return json;
}

}  // namespace gpufl::report
