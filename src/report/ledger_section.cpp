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

}  // namespace

Verdict ledger_verdict(const SessionSummary& summary) {
  if (!summary.ledger) {
    if (summary.live) return {"not written yet: the session still runs", Tone::Plain};
    return {"missing: the session was cut off, its last moments may be lost", Tone::Warning};
  }
  if (summary.has_faults) {
    return {"incomplete: parts of the log cannot be read (see problems)", Tone::Warning};
  }
  const format::Completeness told = summary.ledger->completeness();
  if (told == format::Completeness::Incomplete) {
    return {"incomplete: see what was dropped or missed", Tone::Warning};
  }
  const format::WriterCounts& written = summary.ledger->writer;
  if (sum(summary.rows) + written.rows_deleted < sum(written.rows)) {
    return {"incomplete: fewer rows can be read than were written", Tone::Warning};
  }
  if (told == format::Completeness::NotProven) {
    return {"not proven: no loss is known, but launches not counted", Tone::Warning};
  }
  return {"complete: no loss is known", Tone::Good};
}

namespace {

// What launched, and what came of it. Rows that would tell of nothing are left out.
void write_launches(TextPage& page, const format::Ledger& ledger) {
  const auto field_if_any = [&](std::string_view name, const std::optional<uint64_t>& count) {
    if (count.value_or(0) > 0) page.field(name, format_count(*count));
  };
  field_if_any("launches without record", ledger.launches_missing);
  field_if_any("still running at the end", ledger.launches_unfinished);
  field_if_any("outside the capture range", ledger.launches_outside_range);
  field_if_any("records of no launch seen", ledger.kernels_unclaimed);
  const auto text = [](const std::optional<uint64_t>& count) {
    return count ? format_count(*count) : std::string(kUnknown);
  };
  for (const auto& [number, device] : ledger.by_device) {
    page.field(number >= 0 ? fmt::format("  device {}", number) : "  device unknown",
               fmt::format("{} launched, {} recorded, {} missing", text(device.launches),
                           text(device.kernel_records), text(device.launches_missing)));
  }
  if (ledger.graph_launches.value_or(0) > 0) {
    page.field("graph launches",
               fmt::format("{} ({} kernel records; how many there should be is unknown)",
                           format_count(*ledger.graph_launches),
                           format_count(ledger.graph_kernel_records.value_or(0))));
  }
  if (!ledger.uncounted.empty()) {
    std::string names;
    for (const std::string& name : ledger.uncounted) {
      names.append(names.empty() ? "" : ", ").append(name);
    }
    page.field("cannot be counted", names);
  }
}

}  // namespace

void write_ledger(TextPage& page, const SessionSummary& summary) {
  const Verdict result = ledger_verdict(summary);
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
  if (ledger != nullptr) write_launches(page, *ledger);
  page.field("dropped by the vendor", optional_count(&Ledger::vendor_dropped));
  page.field("impossible times", optional_count(&Ledger::impossible_times));
  const auto if_counted = [&](std::string_view name, std::optional<uint64_t> Ledger::* member) {
    if (ledger != nullptr && ledger->*member) page.field(name, format_count(*(ledger->*member)));
  };
  if_counted("launch notes dropped", &Ledger::notes_dropped);
  if_counted("markers dropped", &Ledger::markers_dropped);
  if_counted("markers never closed", &Ledger::markers_unclosed);
  if_counted("marker ends without start", &Ledger::markers_unmatched);
  if_counted("stacks dropped", &Ledger::stacks_dropped);
  page.field("scope events dropped", count("scopes_dropped", &Ledger::scopes_dropped));
  page.field("scopes never closed", count("scopes_unclosed", &Ledger::scopes_unclosed));
  page.field("scopes forgotten", count("scopes_forgotten", &Ledger::scopes_forgotten));
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
      "kernel", "memcpy",    "memset",      "sync",         "memory",    "graph",
      "api",    "pc_sample", "sass_metric", "range_metric", "pm_sample", "warp_span"};
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
  const format::Ledger& ledger = *summary.ledger;
  const auto time_text = [&](double time_ns, std::string_view of_what) {
    std::string text = format_duration(time_ns);
    if (summary.duration_ns > 0) {
      text += fmt::format(", {:.3f}% of {}",
                          time_ns * 100 / static_cast<double>(summary.duration_ns), of_what);
    }
    return text;
  };
  page.field("collector CPU time",
             time_text(static_cast<double>(ledger.collector_cpu_ns), "one core"));
  if (ledger.callback_ns) {
    page.field("in callbacks",
               time_text(static_cast<double>(*ledger.callback_ns), "the session's time"));
  }
  if (ledger.cupti_overhead_ns) {
    page.field("the vendor's own overhead",
               time_text(static_cast<double>(*ledger.cupti_overhead_ns), "the session's time"));
  }
  if (ledger.activity_buffers && ledger.activity_bytes) {
    page.field("buffers of the vendor",
               fmt::format("{} ({})", format_count(*ledger.activity_buffers),
                           format_bytes(static_cast<double>(*ledger.activity_bytes))));
  }
}

}  // namespace gpufl::report
