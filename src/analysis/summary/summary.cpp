// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/summary.hpp"

#include <algorithm>

#include "analysis/math/saturating.hpp"
#include "format/former_names.hpp"

namespace gpufl::analysis {

namespace {

using base::Json;
using format::Kind;

}  // namespace

bool SessionSummary::is_budgeted() const {
  // One that could not detach stayed attached, whatever the budget.
  const EngineCoverage all = all_coverage();
  const bool has_budget = header.overhead_budget_ppm.has_value();
  // Between deep windows only a budget detaches.
  return all.phases > 0 ? all.is_paced || (has_budget && all.ends_with_windows) : has_budget;
}

std::optional<Interval> SessionSummary::open_phase() const {
  const EngineCoverage told = sum_of(coverage);
  // Logs of sessions without a budget may be older than `coverage`.
  if (ended || (told.phases == 0 && !header.overhead_budget_ppm)) return std::nullopt;
  int64_t start_ns = 0;
  if (last_change) {
    if (!last_change->is_on || last_change->time_ns < told.last_end_ns) return std::nullopt;
    start_ns = last_change->time_ns;
  } else if (told.phases > 0 || activity == ActivityTotals()) {
    return std::nullopt;
  }
  if (start_ns >= duration_ns) return std::nullopt;
  return Interval{start_ns, duration_ns};
}

const Json* SessionSummary::armed_windows() const {
  for (const Json& event : events) {
    if (event["name"].as_string() == "deep_windows_armed") return &event;
  }
  return nullptr;
}

EngineCoverage SessionSummary::all_coverage() const {
  EngineCoverage all = sum_of(coverage);
  if (const auto open = open_phase()) {
    ++all.phases;
    ++all.phase_cost.unknown;
    all.phase_ns = saturating_add(all.phase_ns, open->length());
    all.last_end_ns = open->end;
  }
  return all;
}

void SummaryBuilder::see_times(const format::Batch& batch) {
  const format::KindSpec& spec = batch.kind_spec();
  // The first time is the row's own; later ones (the API call's) lie before its end.
  const auto found = std::find_if(spec.columns.begin(), spec.columns.end(), [](const auto& column) {
    return column.type == format::ColumnType::Time;
  });
  const auto time = static_cast<size_t>(found - spec.columns.begin());
  if (found == spec.columns.end() || !batch.has(time)) return;
  const size_t duration = format::duration_of(spec, time);
  const bool has_duration = duration != format::kNoColumn && batch.has(duration);
  Interval span{INT64_MAX, 0};
  for (size_t row = 0; row < batch.rows(); ++row) {
    const int64_t start_ns = batch.column(time)[row];
    int64_t end_ns = start_ns;
    if (has_duration && __builtin_add_overflow(end_ns, batch.column(duration)[row], &end_ns)) {
      continue;  // impossible, and told as a problem by the reader
    }
    span = {std::min(span.start, start_ns), std::max(span.end, end_ns)};
  }
  if (span.end < span.start) return;
  summary_.duration_ns = std::max(summary_.duration_ns, span.end);
  lost_windows_.on_rows(batch.kind(), span);
}

void SummaryBuilder::on_batch(const format::Batch& batch,
                              const format::Dictionaries& dictionaries) {
  summary_.rows[std::string(batch.kind_spec().name)] += batch.rows();
  see_times(batch);
  pending_.add(batch, dictionaries);
  summary_.activity.add(batch);
  switch (batch.kind()) {
    case Kind::Marker: markers_.add(batch, dictionaries); break;
    case Kind::Counter: counters_.add(batch, dictionaries); break;
    case Kind::DeviceMetric: metrics_.add_device(batch, dictionaries); break;
    case Kind::HostMetric: metrics_.add_host(batch, dictionaries); break;
    case Kind::Coverage: coverage_.add(batch, dictionaries); break;
    case Kind::DeepWindow: deep_windows_.add(batch, dictionaries); break;
    default: break;
  }
}

void SummaryBuilder::on_object(Kind kind, const Json& line) {
  if (format::is_counted(kind)) ++summary_.rows[std::string(format::spec(kind).name)];
  switch (kind) {
    case Kind::Device: see_device(line); break;
    case Kind::Capability: see_capability(line); break;
    case Kind::Event: see_event(line); break;
    case Kind::Ledger: summary_.ledger = format::Ledger::from_json(line); break;
    case Kind::End:
      summary_.ended = true;
      end_ns_ = line["time"].as_integer();
      break;
    default: break;
  }
  summary_.duration_ns = std::max(summary_.duration_ns, line["time"].as_integer());
}

// Every file can be read alone, so what belongs to the session may be told more than once.
void SummaryBuilder::see_device(const Json& device_line) {
  const Json line = format::with_names_for_all(device_line);
  const int64_t number = line["device"].as_integer();
  const auto place = std::lower_bound(
      summary_.devices.begin(), summary_.devices.end(), number,
      [](const Json& device, int64_t wanted) { return device["device"].as_integer() < wanted; });
  if (place != summary_.devices.end() && (*place)["device"].as_integer() == number) {
    *place = line;
  } else {
    summary_.devices.insert(place, line);
  }
}

void SummaryBuilder::see_capability(const Json& line) {
  Capability capability = Capability::from_json(line);
  auto& known = summary_.capabilities;
  if (std::find(known.begin(), known.end(), capability) == known.end()) {
    known.push_back(std::move(capability));
  }
}

void SummaryBuilder::see_event(const Json& line) {
  const std::string& name = line["name"].as_string();
  if (name == "host_facts") {
    summary_.host_facts = line;
    return;
  }
  if (markers_.take_event(line)) return;
  ++summary_.event_counts[name];
  const bool resumes = name == "recording_resumed";
  if (resumes || name == "recording_paused") {
    const std::string& why = line["why"].as_string();
    summary_.last_change = {resumes, line["time"].as_integer(), why};
    // The turns of a budget are many, and have rows.
    if (why == "budget" || why == "schedule" || why.starts_with("deep ")) return;
  }
  if (summary_.events.size() < SessionSummary::kMaxEvents) summary_.events.push_back(line);
}

void SummaryBuilder::on_problem(const format::Problem& problem) {
  using ProblemKind = format::Problem::Kind;
  lost_windows_.on_problem(problem);
  ++summary_.problem_count;
  summary_.has_faults |=
      problem.kind != ProblemKind::UnknownKind && problem.kind != ProblemKind::UnknownColumn;
  if (summary_.problems.size() < SessionSummary::kMaxProblems) summary_.problems.push_back(problem);
}

void SummaryBuilder::on_window(const format::WindowFile& window) {
  using State = format::WindowFile::State;
  lost_windows_.on_window(window);
  is_cut_ |= window.channel == format::Channel::Scope &&
             (window.state == State::Deleted || window.state == State::Missing);
}

void SummaryBuilder::on_window_end(const format::WindowFile& window, uint64_t /*lines*/) {
  lost_windows_.on_window_end(window);
}

SessionSummary SummaryBuilder::finish() {
  // A time after the end is a fault of its row, not a longer session.
  if (end_ns_) summary_.duration_ns = std::max<int64_t>(*end_ns_, 0);
  summary_.lost_windows = lost_windows_.finish(summary_.duration_ns);
  summary_.markers = markers_.finish(summary_.duration_ns);
  summary_.counters = counters_.finish(summary_.duration_ns, is_cut_);
  summary_.metrics = metrics_.finish();
  summary_.coverage = coverage_.finish();
  summary_.deep_windows = deep_windows_.finish();
  summary_.pending = pending_.finish();
  // Where the ledger knows of no kernel that still ran, those without a row were lost.
  if (summary_.ledger && summary_.ledger->launches_unfinished.value_or(0) == 0) {
    std::erase_if(summary_.pending, [](const PendingWork& work) { return !work.kernel.empty(); });
  }
  return std::move(summary_);
}

SessionSummary SummaryBuilder::finish(const format::SessionReader& reader) {
  SessionSummary summary = finish();
  summary.header = reader.header();
  summary.dir = reader.dir();
  summary.live = reader.is_live();
  return summary;
}

base::Result<SessionSummary> summarize(const std::filesystem::path& session_dir) {
  const auto reader = format::SessionReader::open(session_dir);
  if (!reader) return reader.status();
  SummaryBuilder builder;
  for (const format::Problem& problem : reader->open_problems()) builder.on_problem(problem);
  reader->read(builder);
  return builder.finish(*reader);
}

}  // namespace gpufl::analysis
