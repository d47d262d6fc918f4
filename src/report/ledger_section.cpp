// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "analysis/figures/missing.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

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
  std::string text = text::count(sum(counts));
  if (counts.empty()) return text;
  std::string parts;
  for (const auto& [name, count] : counts) {
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name, text::count(count));
  }
  return fmt::format("{} ({})", text, parts);
}

}  // namespace

std::string no_loss_text(const format::Ledger& ledger) {
  if (ledger.samples_missed == 0) return "no loss is known";
  return fmt::format("no loss of GPU work is known; {} missed",
                     text::plural(ledger.samples_missed, "sample"));
}

Verdict ledger_verdict(const SessionSummary& summary) {
  if (!summary.ledger) {
    if (summary.live) return {"not written yet: the session still runs", Tone::Plain};
    return {"cut off: the session has no ledger, and its last moments may be lost", Tone::Warning};
  }
  if (summary.has_faults) {
    return {"incomplete: parts of the log cannot be read (see problems)", Tone::Warning};
  }
  const format::Completeness told = summary.ledger->completeness();
  if (told == format::Completeness::Incomplete) {
    return {"incomplete: see what was dropped or missed", Tone::Warning};
  }
  if (analysis::unread_rows(summary).unread > 0) {
    return {"incomplete: fewer rows can be read than were written", Tone::Warning};
  }
  if (told == format::Completeness::NotProven) {
    std::string why;
    if (summary.ledger->lacks_launch_count()) {
      why = "no loss is known, but launches were not counted";
    }
    if (summary.ledger->uncounted.contains("full_warp_lanes")) {
      why += why.empty() ? "" : ", and ";
      why += "full lanes of warpscope may have lost records";
    }
    return {"not proven: " + why, Tone::Warning};
  }
  const std::string phases = phases_text(summary);
  return {phases.empty()
              ? "complete: " + no_loss_text(*summary.ledger)
              : fmt::format("complete inside {}: {}", phases, no_loss_text(*summary.ledger)),
          Tone::Good};
}

void write_ledger_briefly(Page& page, const SessionSummary& summary) {
  const Verdict verdict = ledger_verdict(summary);
  std::string text = verdict.text;
  const auto losses = summary.ledger ? summary.ledger->losses() : Counts();
  if (summary.has_faults) {
    text = "incomplete: parts of the log cannot be read; gpufl verify shows which";
  } else if (verdict.tone == Tone::Good && summary.ledger->launches_seen.value_or(0) > 0 &&
             summary.ledger->launches_seen == summary.ledger->kernel_records) {
    text += fmt::format(" ({} recorded)", text::plural(*summary.ledger->launches_seen, "launch"));
  } else if (!losses.empty() && verdict.tone == Tone::Warning) {
    text = "incomplete:";
    for (const auto& [name, count] : losses) {
      text += fmt::format("{} {} {}", text.back() == ':' ? "" : ",", name, text::count(count));
    }
  }
  page.field("ledger", text, verdict.tone);
}

std::string overlaps_text(const format::Ledger& ledger) {
  return fmt::format(
      "{} began before the previous one on their stream had ended, by at most {}: because of the "
      "vendor's clock, branches of a graph, or dependent launches",
      text::count(ledger.kernels_overlapping.value_or(0)),
      ledger.most_overlap_ns ? text::duration(static_cast<double>(*ledger.most_overlap_ns))
                             : std::string(kUnknown));
}

namespace {

// What launched, and what came of it. Rows that would tell of nothing are left out.
void write_launches(Page& page, const format::Ledger& ledger) {
  const auto field_if_any = [&](std::string_view name, const std::optional<uint64_t>& count) {
    if (count.value_or(0) > 0) page.field(name, text::count(*count));
  };
  field_if_any("launches without record", ledger.launches_missing);
  field_if_any("still running at the end", ledger.launches_unfinished);
  field_if_any("outside the capture range", ledger.launches_outside_range);
  field_if_any("counted, not recorded", ledger.launches_counted);
  field_if_any("graph launches not counted", ledger.graph_launches_uncounted);
  field_if_any("records without a launch", ledger.kernels_unclaimed);
  const auto text = [](const std::optional<uint64_t>& count) {
    return count ? text::count(*count) : std::string(kUnknown);
  };
  for (const auto& [number, device] : ledger.by_device) {
    page.field(number >= 0 ? fmt::format("  device {}", number) : "  device unknown",
               fmt::format("{} launched, {} recorded, {} missing", text(device.launches),
                           text(device.kernel_records), text(device.launches_missing)));
  }
  if (ledger.graph_launches.value_or(0) > 0) {
    page.field("graph launches", fmt::format("{} ({} kernel records, {} missing)",
                                             text::count(*ledger.graph_launches),
                                             text::count(ledger.graph_kernel_records.value_or(0)),
                                             text(ledger.graph_kernels_missing)));
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

namespace {

// The numbers of a ledger: those that tell of something each in a row, then how many are zero, and
// the names of those that nobody counted.
class LedgerRows {
 public:
  LedgerRows(Page& page, const format::Ledger* ledger) : page_(page), ledger_(ledger) {}

  // What is told in any case: that it is zero says that nothing ran, not that nothing was lost.
  void count(std::string_view label, std::optional<uint64_t> format::Ledger::* member) {
    const std::optional<uint64_t> number = ledger_ != nullptr ? ledger_->*member : std::nullopt;
    if (number) {
      page_.field(label, text::count(*number));
    } else {
      add_unknown(label);
    }
  }
  // What is zero only where nothing was lost.
  void loss(std::string_view label, std::optional<uint64_t> count) {
    if (!count) {
      add_unknown(label);
    } else if (*count == 0) {
      ++zeros_;
    } else {
      page_.field(label, text::count(*count));
    }
  }
  void loss(std::string_view label, std::string_view name, uint64_t format::Ledger::* member) {
    loss(label, knows(name) ? std::optional(ledger_->*member) : std::nullopt);
  }
  void loss(std::string_view label, std::optional<uint64_t> format::Ledger::* member) {
    loss(label, ledger_ != nullptr ? ledger_->*member : std::nullopt);
  }
  void if_counted(std::string_view label, std::optional<uint64_t> format::Ledger::* member) {
    if (ledger_ != nullptr && ledger_->*member) loss(label, member);
  }
  template <typename Text>
  void writer(std::string_view label, std::string_view name, Text text) {
    if (knows(name)) {
      page_.field(label, text(ledger_->writer));
    } else {
      add_unknown(label);
    }
  }
  // `count`: of the writer's counts; `text`: what is said of them where there are any.
  template <typename Count, typename Text>
  void writer_loss(std::string_view label, std::string_view name, Count count, Text text) {
    if (knows(name) && count(ledger_->writer) > 0) {
      page_.field(label, text(ledger_->writer));
    } else {
      loss(label, knows(name) ? std::optional<uint64_t>(0) : std::nullopt);
    }
  }
  void finish() {
    if (zeros_ > 0) {
      page_.field("zero", text::plural(zeros_, "other count") +
                              " (to list them: gpufl cat SESSION ledger)");
    }
    if (!unknown_.empty()) page_.field(kUnknown, unknown_);
  }

 private:
  bool knows(std::string_view name) const { return ledger_ != nullptr && ledger_->knows(name); }
  void add_unknown(std::string_view label) {
    unknown_.append(unknown_.empty() ? "" : ", ").append(label);
  }

  Page& page_;
  const format::Ledger* ledger_;
  size_t zeros_ = 0;
  std::string unknown_;
};

}  // namespace

void write_ledger(Page& page, const SessionSummary& summary) {
  const Verdict result = ledger_verdict(summary);
  page.heading("LEDGER", result.text, result.tone);

  using format::Ledger;
  using format::WriterCounts;
  const Ledger* ledger = summary.ledger ? &*summary.ledger : nullptr;
  write_coverage(page, summary);
  LedgerRows rows(page, ledger);
  rows.count("launches seen", &Ledger::launches_seen);
  rows.count("kernel records", &Ledger::kernel_records);
  if (ledger != nullptr) write_launches(page, *ledger);
  rows.loss("dropped by the vendor", &Ledger::vendor_dropped);
  rows.loss("impossible times", &Ledger::impossible_times);
  if (ledger != nullptr && ledger->kernels_overlapping.value_or(0) > 0) {
    page.field("kernels that overlap", overlaps_text(*ledger));
  }
  rows.if_counted("launch notes dropped", &Ledger::notes_dropped);
  rows.if_counted("attempts to trace refused", &Ledger::tracings_refused);
  rows.if_counted("markers dropped", &Ledger::markers_dropped);
  rows.if_counted("markers never closed", &Ledger::markers_unclosed);
  rows.if_counted("marker ends without start", &Ledger::markers_unmatched);
  rows.if_counted("stacks dropped", &Ledger::stacks_dropped);
  rows.if_counted("warp records dropped", &Ledger::warp_records_dropped);
  rows.if_counted("modules without room", &Ledger::modules_over_cap);
  rows.if_counted("modules not found", &Ledger::modules_not_found);
  rows.loss("scope events dropped", "scopes_dropped", &Ledger::scopes_dropped);
  rows.loss("scopes never closed", "scopes_unclosed", &Ledger::scopes_unclosed);
  rows.loss("scopes forgotten", "scopes_forgotten", &Ledger::scopes_forgotten);
  rows.loss("names beyond the bound", "names_overflowed", &Ledger::names_overflowed);
  rows.loss("counters beyond the bound", "counters_overflowed", &Ledger::counters_overflowed);
  rows.loss("samples taken", "samples_taken", &Ledger::samples_taken);
  rows.loss("samples missed", "samples_missed", &Ledger::samples_missed);
  rows.loss("samplers stuck", "samplers_stuck", &Ledger::samplers_stuck);
  rows.loss("rounds lost", "rounds_lost", &Ledger::rounds_lost);
  rows.loss("events dropped", "events_dropped", &Ledger::events_dropped);
  rows.writer("rows written", "rows",
              [](const WriterCounts& writer) { return counts_text(writer.rows); });
  if (ledger == nullptr || ledger->writer.rows != summary.rows) {
    page.field("rows read", counts_text(summary.rows));
  }
  rows.writer_loss(
      "dropped by the writer", "dropped",
      [](const WriterCounts& writer) { return sum(writer.dropped); },
      [](const WriterCounts& writer) { return counts_text(writer.dropped); });
  rows.writer_loss(
      "dictionary overflows", "dictionary_overflows",
      [](const WriterCounts& writer) { return writer.dictionary_overflows; },
      [](const WriterCounts& writer) { return text::count(writer.dictionary_overflows); });
  rows.writer("raw bytes", "raw_bytes", [](const WriterCounts& writer) {
    return text::bytes(static_cast<double>(writer.raw_bytes));
  });
  rows.writer_loss(
      "windows deleted", "windows_deleted",
      [](const WriterCounts& writer) { return writer.windows_deleted; },
      [](const WriterCounts& writer) {
        return fmt::format("{} ({} rows)", text::count(writer.windows_deleted),
                           text::count(writer.rows_deleted));
      });
  rows.finish();
}

void write_activity(Page& page, const SessionSummary& summary) {
  constexpr std::string_view kActivity[] = {
      "kernel", "memcpy",    "memset",      "sync",         "memory",    "graph",
      "api",    "pc_sample", "sass_metric", "range_metric", "pm_sample", "warp_span"};
  std::string text;
  for (const std::string_view kind : kActivity) {
    const auto found = summary.rows.find(std::string(kind));
    if (found == summary.rows.end() || found->second == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, text::count(found->second));
  }
  if (!text.empty()) page.field("records", text);
}

void write_cost(Page& page, const SessionSummary& summary) {
  page.heading("COST OF RECORDING");
  // A recorder takes some time in any case; where it was none, nobody has measured it.
  if (!summary.ledger || summary.ledger->collector_cpu_ns == 0) {
    page.field("collector CPU time", kUnknown);
    if (!summary.ledger) return;
  }
  const format::Ledger& ledger = *summary.ledger;
  const auto time_text = [&](double time_ns, std::string_view of_what) {
    std::string text = text::duration(time_ns);
    if (summary.duration_ns > 0) {
      text += fmt::format(", {:.3f}% of {}",
                          time_ns * 100 / static_cast<double>(summary.duration_ns), of_what);
    }
    return text;
  };
  if (ledger.collector_cpu_ns > 0) {
    page.field("collector CPU time",
               time_text(static_cast<double>(ledger.collector_cpu_ns), "one core"));
  }
  if (ledger.callback_ns) {
    page.field("in callbacks",
               time_text(static_cast<double>(*ledger.callback_ns), "the session's time"));
  }
  if (ledger.vendor_overhead_ns) {
    page.field("the vendor's own overhead",
               time_text(static_cast<double>(*ledger.vendor_overhead_ns), "the session's time"));
  }
  if (ledger.activity_buffers && ledger.activity_bytes) {
    page.field("buffers of the vendor",
               fmt::format("{} ({})", text::count(*ledger.activity_buffers),
                           text::bytes(static_cast<double>(*ledger.activity_bytes))));
  }
}

}  // namespace gpufl::report
