// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/figures/missing.hpp"
#include "analysis/insights/rules.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

// What asking "is it done?" answers while it is not: no failure.
bool is_answer(std::string_view error) {
  return error == "cudaErrorNotReady" || error == "CUDA_ERROR_NOT_READY";
}

// Errors after which the process cannot use the GPU any more. Logs of other tools tell their
// numbers alone, which the runtime and the driver share.
bool is_final(std::string_view error) {
  constexpr std::string_view kFinal[] = {"IllegalAddress",
                                         "ILLEGAL_ADDRESS",
                                         "LaunchFailure",
                                         "LAUNCH_FAILED",
                                         "HardwareStackError",
                                         "IllegalInstruction",
                                         "ILLEGAL_INSTRUCTION",
                                         "MisalignedAddress",
                                         "MISALIGNED_ADDRESS",
                                         "Assert",
                                         "ASSERT",
                                         "EccUncorrectable",
                                         "ECC_UNCORRECTABLE",
                                         "LaunchTimeout",
                                         "LAUNCH_TIMEOUT"};
  // ECC, illegal address, launch timeout, assert, hardware stack to launch failure.
  constexpr std::string_view kFinalNumbers[] = {"error 214", "error 700", "error 702", "error 710",
                                                "error 714", "error 715", "error 716", "error 717",
                                                "error 718", "error 719"};
  if (std::find(std::begin(kFinalNumbers), std::end(kFinalNumbers), error) !=
      std::end(kFinalNumbers)) {
    return true;
  }
  return std::any_of(std::begin(kFinal), std::end(kFinal), [&](std::string_view word) {
    return error.find(word) != std::string_view::npos;
  });
}

// What is missing from a recording, as its ledger counts it.
struct Losses {
  std::vector<std::string> texts;
  double missing_share = 0;  // of launches

  void add(uint64_t count, std::string_view noun) {
    if (count > 0) texts.push_back(text::plural(count, noun));
  }
};

Losses losses_of(const format::Ledger& ledger) {
  Losses losses;
  const uint64_t missing = ledger.launches_missing.value_or(0);
  losses.add(missing, "missing kernel record");
  if (missing > 0 && ledger.launches_seen.value_or(0) > 0) {
    losses.missing_share =
        static_cast<double>(missing) / static_cast<double>(*ledger.launches_seen);
  }
  losses.add(ledger.vendor_dropped.value_or(0), "vendor-dropped record");
  losses.add(ledger.impossible_times.value_or(0), "impossible time");
  losses.add(ledger.notes_dropped.value_or(0), "uncounted launch");
  losses.add(ledger.tracings_refused.value_or(0), "refused attempt to trace");
  losses.add(ledger.markers_dropped.value_or(0), "dropped marker");
  losses.add(ledger.stacks_dropped.value_or(0), "dropped stack");
  losses.add(ledger.warp_records_dropped.value_or(0), "dropped warp record");
  losses.add(ledger.scopes_dropped, "dropped scope event");
  losses.add(ledger.scopes_forgotten, "forgotten scope");
  losses.add(ledger.samplers_stuck, "stuck sampler");
  losses.add(ledger.writer.windows_deleted, "deleted window");
  losses.add(ledger.events_dropped, "dropped event");
  losses.add(ledger.rounds_lost, "lost round");
  losses.add(
      ledger.names_overflowed + ledger.counters_overflowed + ledger.writer.dictionary_overflows,
      "overflowed name");
  for (const auto& [reason, count] : ledger.writer.dropped) {
    if (count > 0)
      losses.texts.push_back(fmt::format("{} ({})", text::plural(count, "dropped row"), reason));
  }
  if (ledger.uncounted.contains(format::Ledger::kTruncatedTrace)) {
    losses.texts.emplace_back("the imported file ends early");
  }
  return losses;
}

format::Ledger without_full_rings(format::Ledger ledger) {
  ledger.scopes_dropped = 0;
  ledger.markers_dropped.reset();
  return ledger;
}

}  // namespace

void find_failed_calls(const SessionView& view, std::vector<Insight>& found) {
  struct Failure {
    uint64_t count = 0;
    uint32_t row = 0;
  };
  const ApiCalls& calls = view.tables.api_calls;
  std::map<std::tuple<std::string, std::string, std::string>, Failure> failures;
  for (size_t row = 0; row < calls.rows(); ++row) {
    if (!calls.has_failed(row) || !view.selection.includes(calls, row)) continue;
    std::string error = calls.error.empty() ? "" : view.tables.name(calls.error[row]);
    if (error.empty()) error = fmt::format("error {}", calls.result[row]);
    if (is_answer(error)) continue;
    Failure& failure =
        failures[{view.tables.name(calls.name[row]), error, view.site_of(calls, row).text}];
    if (failure.count++ == 0) failure.row = static_cast<uint32_t>(row);
  }
  for (const auto& [key, failure] : failures) {
    const auto& [function, error, place] = key;
    const CodeSite& site = view.site_of(calls, failure.row);
    Insight insight;
    insight.severity = is_final(error) ? Severity::High : Severity::Medium;
    insight.title = fmt::format("{} failed{}: {}{}", function,
                                failure.count > 1 ? fmt::format(" × {}", failure.count) : "", error,
                                place.empty() ? "" : " @ " + short_line(site));
    insight.detail = fmt::format("first after {} of the session",
                                 text::duration(static_cast<double>(calls.start[failure.row])));
    insight.advice = is_final(error)
                         ? "Run the program under compute-sanitizer to find the faulty access. "
                           "After this error the process cannot use the GPU."
                         : "Check what the call returns. Some libraries try one thing, then "
                           "another, and cause such failures on purpose; otherwise it is an error "
                           "in the program.";
    insight.estimate = "None: it is about correct results, not about time.";
    insight.confidence = Confidence::High;
    Evidence evidence =
        at_site(site, fmt::format("{} of {}", text::plural(failure.count, "failure"), function));
    evidence.scope = view.scope_of(calls, failure.row);
    evidence.start_ns = calls.start[failure.row];
    evidence.end_ns = calls.end(failure.row);
    insight.evidence.push_back(std::move(evidence));
    found.push_back(std::move(insight));
  }
}

void find_trace_losses(const SessionView& view, std::vector<Insight>& found) {
  const SessionSummary& summary = view.session.summary;
  if (summary.live) return;
  Insight insight;
  insight.estimate = "None: what is missing costs the program nothing.";
  insight.confidence = Confidence::High;
  if (!summary.ledger) {
    if (summary.header.engine.empty()) return;  // nobody recorded it: made by hand or imported
    insight.severity = Severity::High;
    insight.title = "The session was cut off: its last moments may be missing";
    insight.detail = fmt::format(
        "The session has no ledger: {}. Everything up to a quarter of a second before the end was "
        "kept.",
        format::kUnclosed);
    insight.advice =
        "Find out why its process died; the report lists what was still running. Figures cover "
        "what was written before that. Workers of Python's multiprocessing close their sessions "
        "if they call gpufl.init() or are started with spawn; others leave through _exit.";
    found.push_back(std::move(insight));
    return;
  }
  Losses losses = losses_of(*summary.ledger);
  const auto is_lossy = [](format::Completeness told) {
    return told == format::Completeness::Incomplete;
  };
  const bool is_incomplete = is_lossy(summary.ledger->completeness());
  const bool has_full_ring =
      summary.ledger->scopes_dropped + summary.ledger->markers_dropped.value_or(0) > 0;
  const bool lacks_room = is_lossy(without_full_rings(*summary.ledger).completeness_of_trace());
  const UnreadRows rows = unread_rows(summary);
  const bool is_damaged = summary.has_faults || rows.unread > 0;
  if (!is_incomplete && !is_damaged) return;
  if (rows.unread > 0) {
    losses.texts.push_back(fmt::format("{} of {} cannot be read", text::count(rows.unread),
                                       text::plural(rows.written, "written row")));
  } else if (is_damaged) {
    losses.texts.emplace_back("parts of the log cannot be read");
  }
  if (losses.texts.empty()) losses.texts.emplace_back("fewer kernel records than launches");
  insight.severity =
      is_damaged || losses.missing_share > view.thresholds.trace_losses.high_missing_share
          ? Severity::High
          : Severity::Medium;
  insight.title = fmt::format("The trace is not complete: {}", fmt::join(losses.texts, ", "));
  if (losses.missing_share > 0) {
    insight.detail =
        fmt::format("{} of all launches left no record; counts and times are too low by as much",
                    text::percent(losses.missing_share));
  } else if (lacks_room || is_damaged) {
    insight.detail = "counts and times may be too low";
  } else if (has_full_ring) {
    insight.detail = "counts and times of scopes and markers are lower bounds; GPU work is whole";
  } else {
    insight.detail = "figures inside kernels may be too low; everything else is complete";
  }
  std::vector<std::string> advice;
  if (is_damaged) {
    advice.emplace_back(
        "The log itself is damaged; `gpufl verify` shows where. Copy the session again from the "
        "machine that recorded it, or record it again.");
  }
  if (summary.ledger->uncounted.contains(format::Ledger::kTruncatedTrace)) {
    advice.emplace_back("The file was cut off before it was imported: copy or record it again.");
  } else if (lacks_room) {
    advice.emplace_back(
        "Record less (fewer features, a capture range, a lower sampling rate) or give the log "
        "more room (log_spool_mb, free disk space). See docs/reference/trace-states.md.");
  }
  if (has_full_ring) {
    advice.push_back(fmt::format(
        "Scopes and markers that come faster than they are written fill the ring of their thread: "
        "{}.",
        kFullRingRemedy));
  }
  if (summary.ledger->warp_records_dropped.value_or(0) > 0) {
    advice.emplace_back(
        "Warps record into buffers of a fixed size. Give warpscope more room (a larger "
        "max_records, in Python max_records_per_lane), record fewer events, or choose what is "
        "kept with another overflow policy.");
  }
  insight.advice = fmt::format("{}", fmt::join(advice, " "));
  Evidence evidence;
  evidence.text = fmt::format("{}", fmt::join(losses.texts, ", "));
  insight.evidence.push_back(std::move(evidence));
  found.push_back(std::move(insight));
}

}  // namespace gpufl::analysis
