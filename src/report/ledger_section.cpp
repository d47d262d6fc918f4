// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "report/text_sections.hpp"
#include "report/units.hpp"

namespace gpufl::report {

namespace {

using analysis::SessionSummary;
using Counts = std::map<std::string, uint64_t>;

constexpr std::string_view kUnknown = "unknown";

uint64_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0},
                         [](uint64_t total, const auto& entry) { return total + entry.second; });
}

// "1,200 (kernel 1,000, scope 200)"
std::string counts_text(const Counts& counts) {
  std::string text = format_count(sum(counts));
  if (counts.empty()) return text;
  std::string parts;
  for (const auto& [name, count] : counts) {
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name, format_count(count));
  }
  return fmt::format("{} ({})", text, parts);
}

struct Verdict {
  std::string text;
  Tone tone;
};

Verdict verdict(const SessionSummary& summary) {
  if (!summary.ledger) {
    if (summary.live) return {"not written yet: the session still runs", Tone::Plain};
    return {"missing: the session was cut off, its last moments may be lost", Tone::Warning};
  }
  if (summary.has_faults) {
    return {"incomplete: parts of the log cannot be read (see problems)", Tone::Warning};
  }
  if (!summary.ledger->is_complete()) {
    return {"incomplete: see what was dropped or missed", Tone::Warning};
  }
  const format::WriterCounts& written = summary.ledger->writer;
  if (sum(summary.rows) + written.rows_deleted < sum(written.rows)) {
    return {"incomplete: fewer rows can be read than were written", Tone::Warning};
  }
  return {"complete: no loss is known", Tone::Good};
}

}  // namespace

void write_ledger(TextPage& page, const SessionSummary& summary) {
  const Verdict result = verdict(summary);
  page.heading("LEDGER", result.text, result.tone);

  // One row for every number, so that what nobody counted is seen to be unknown.
  const format::Ledger* ledger = summary.ledger ? &*summary.ledger : nullptr;
  const std::string& engine = summary.header.engine;
  const auto optional_count = [&](std::optional<uint64_t> format::Ledger::* member) {
    if (ledger == nullptr) return std::string(kUnknown);
    const std::optional<uint64_t>& count = ledger->*member;
    return count ? format_count(*count) : fmt::format("unknown ({} does not count them)", engine);
  };
  const auto count = [&](std::string_view name, uint64_t format::Ledger::* member) {
    const bool known = ledger != nullptr && ledger->knows(name);
    return known ? format_count(ledger->*member) : std::string(kUnknown);
  };
  const auto writer = [&](std::string_view name, auto text) {
    return ledger != nullptr && ledger->knows(name) ? text(ledger->writer) : std::string(kUnknown);
  };
  using format::Ledger;
  using format::WriterCounts;
  page.field("launches seen", optional_count(&Ledger::launches_seen));
  page.field("kernel records", optional_count(&Ledger::kernel_records));
  if (ledger != nullptr && ledger->graph_launches.value_or(0) > 0) {
    page.field("graph launches",
               fmt::format("{} ({} kernel records; how many there should be is unknown)",
                           format_count(*ledger->graph_launches),
                           format_count(ledger->graph_kernel_records.value_or(0))));
  }
  page.field("dropped by the vendor", optional_count(&Ledger::vendor_dropped));
  page.field("impossible times", optional_count(&Ledger::impossible_times));
  page.field("scope events dropped", count("scopes_dropped", &Ledger::scopes_dropped));
  page.field("scopes never closed", count("scopes_unclosed", &Ledger::scopes_unclosed));
  page.field("names beyond the bound", count("names_overflowed", &Ledger::names_overflowed));
  page.field("counters beyond the bound",
             count("counters_overflowed", &Ledger::counters_overflowed));
  page.field("samples taken", count("samples_taken", &Ledger::samples_taken));
  page.field("samples missed", count("samples_missed", &Ledger::samples_missed));
  page.field("samplers stuck", count("samplers_stuck", &Ledger::samplers_stuck));
  page.field("rounds lost", count("rounds_lost", &Ledger::rounds_lost));
  page.field("events dropped", count("events_dropped", &Ledger::events_dropped));
  page.field("rows written",
             writer("rows", [](const WriterCounts& w) { return counts_text(w.rows); }));
  page.field("rows read", counts_text(summary.rows));
  page.field("dropped by the writer",
             writer("dropped", [](const WriterCounts& w) { return counts_text(w.dropped); }));
  page.field("dictionary overflows", writer("dictionary_overflows", [](const WriterCounts& w) {
               return format_count(w.dictionary_overflows);
             }));
  page.field("raw bytes", writer("raw_bytes", [](const WriterCounts& w) {
               return format_bytes(static_cast<double>(w.raw_bytes));
             }));
  // Written before the last windows are sealed, so it cannot count those.
  page.field("windows sealed on the way", writer("windows_sealed", [](const WriterCounts& w) {
               return fmt::format("{} ({})", format_count(w.windows_sealed),
                                  format_bytes(static_cast<double>(w.sealed_bytes)));
             }));
  page.field("windows deleted", writer("windows_deleted", [](const WriterCounts& w) {
               return fmt::format("{} ({} rows)", format_count(w.windows_deleted),
                                  format_count(w.rows_deleted));
             }));
}

void write_activity(TextPage& page, const SessionSummary& summary) {
  constexpr std::string_view kActivity[] = {
      "kernel", "memcpy",    "memset",      "sync",         "memory",    "graph",    "api",
      "marker", "pc_sample", "sass_metric", "range_metric", "pm_sample", "warp_span"};
  std::string text;
  for (const std::string_view kind : kActivity) {
    const auto found = summary.rows.find(std::string(kind));
    if (found == summary.rows.end() || found->second == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, format_count(found->second));
  }
  if (text.empty()) return;
  page.heading("GPU ACTIVITY");
  page.field("records", text);
}

void write_cost(TextPage& page, const SessionSummary& summary) {
  page.heading("COST OF RECORDING");
  if (!summary.ledger) {
    page.field("collector CPU time", kUnknown);
    return;
  }
  const auto cpu_ns = static_cast<double>(summary.ledger->collector_cpu_ns);
  std::string text = format_duration(cpu_ns);
  if (summary.duration_ns > 0) {
    text += fmt::format(", {:.3f}% of one core",
                        cpu_ns * 100 / static_cast<double>(summary.duration_ns));
  }
  page.field("collector CPU time", text);
}

}  // namespace gpufl::report
