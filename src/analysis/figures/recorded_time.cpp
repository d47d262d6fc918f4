// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/recorded_time.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "analysis/figures/phases.hpp"
#include "analysis/session/selection.hpp"
#include "analysis/session/work_rows.hpp"

namespace gpufl::analysis {

namespace {

// Since when work is there that was not deleted to make room: the oldest goes first. None: all is.
std::optional<int64_t> kept_from(const SessionData& session) {
  const std::optional<format::Ledger>& ledger = session.summary.ledger;
  if (!ledger || ledger->writer.rows_deleted == 0) return std::nullopt;
  const auto count = [](const std::map<std::string, uint64_t>& rows) {
    const auto found = rows.find("kernel");
    return found == rows.end() ? 0 : found->second;
  };
  if (count(session.summary.rows) >= count(ledger->writer.rows)) return std::nullopt;
  std::optional<int64_t> first_ns;
  for (const Work* work : work_tables(session.tables)) {
    if (work->rows() != 0) first_ns = std::min(first_ns.value_or(INT64_MAX), work->start.front());
  }
  return first_ns;
}

// What lies between `recording_paused` and `recording_resumed` events.
Intervals pauses(const SessionSummary& summary) {
  Intervals spans;
  int64_t since = Selection::kAlways.start;
  bool is_recording = true, is_first = true;
  for (const base::Json& event : summary.events) {
    const std::string& name = event["name"].as_string();
    const bool resumes = name == "recording_resumed";
    if (!resumes && name != "recording_paused") continue;
    const int64_t time_ns = event["time"].as_integer();
    // A session that began dormant resumes before it has paused.
    if (resumes && is_first) is_recording = false;
    is_first = false;
    if (resumes && !is_recording) add_in_order(spans, since, time_ns);
    if (!resumes && is_recording) since = time_ns;
    is_recording = resumes;
  }
  if (!is_recording) add_in_order(spans, since, Selection::kAlways.end);
  return spans;
}

}  // namespace

Intervals unrecorded_spans(const SessionData& session) {
  const std::optional<Phases> phases = traced_phases(session);
  Intervals spans =
      phases ? subtract({Selection::kAlways}, phases->spans) : pauses(session.summary);
  if (const std::optional<int64_t> kept_ns = kept_from(session)) {
    spans = unite(spans, {{Selection::kAlways.start, *kept_ns}});
  }
  for (const LostWindow& lost : session.summary.lost_windows) {
    if (lost.channel != format::Channel::Device || lost.span.length() <= 0) continue;
    spans = unite(spans, {lost.span});
  }
  return spans;
}

Intervals spans_without_rows(const SessionData& session, int64_t device) {
  Intervals spans = unrecorded_spans(session);
  for (const PendingWork& work : session.summary.pending) {
    const bool is_there = work.device == device || work.device < 0;
    if (work.kernel.empty() || !is_there) continue;
    return unite(spans, {{work.time_ns, Selection::kAlways.end}});  // they come oldest first
  }
  return spans;
}

Intervals recorded_spans(const SessionData& session, const AnalysisOptions& options) {
  const Interval whole{0, session.summary.duration_ns};
  const Interval window = options.window.value_or(whole);
  Intervals asked_for;
  add_in_order(asked_for, std::max(window.start, whole.start), std::min(window.end, whole.end));
  return subtract(asked_for, unrecorded_spans(session));
}

}  // namespace gpufl::analysis
