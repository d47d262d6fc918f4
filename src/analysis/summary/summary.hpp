// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/summary/activity.hpp"
#include "analysis/summary/counters.hpp"
#include "analysis/summary/coverage_totals.hpp"
#include "analysis/summary/deep_windows.hpp"
#include "analysis/summary/lost_windows.hpp"
#include "analysis/summary/markers.hpp"
#include "analysis/summary/metric_series.hpp"
#include "analysis/summary/name_table.hpp"
#include "analysis/summary/pending_work.hpp"
#include "base/json.hpp"
#include "base/status.hpp"
#include "format/capability.hpp"
#include "format/ledger.hpp"
#include "format/session_header.hpp"
#include "format/session_reader.hpp"

// What a report of one session says, as numbers: the one implementation of each. Reads the whole
// session once; memory is proportional to distinct names and what is open, not to events.
namespace gpufl::analysis {

using format::Capability;

// An event that says that GPUs are recorded from now on, or no longer.
struct RecordingChange {
  bool is_on = false;
  int64_t time_ns = 0;
  std::string why;  // as in `coverage` rows
};

struct SessionSummary {
  format::SessionHeader header;
  std::filesystem::path dir;
  int64_t duration_ns = 0;  // to the `end` line, else to the last sign of life: a lower bound
  bool ended = false;       // has an `end` line
  bool live = false;        // its process still records
  std::optional<format::Ledger> ledger;  // absent: unclosed, or still running
  std::vector<Capability> capabilities;
  std::vector<base::Json> devices;               // `device` lines, by number
  base::Json host_facts;                         // the event of that name; null when there is none
  std::vector<base::Json> events;                // the first kMaxEvents, without turns of a budget
  std::map<std::string, uint64_t> event_counts;  // by name, all of them
  ActivityTotals activity;
  std::vector<PendingWork> pending;  // what had not ended when the log ends
  std::vector<MarkerTotal> markers;
  std::vector<CounterTotal> counters;
  std::vector<MetricSeries> metrics;
  std::optional<RecordingChange> last_change;  // none: the log has no such event
  std::vector<EngineCoverage> coverage;        // by engine, as rows tell; empty: nobody says
  DeepWindowTotals deep_windows;
  std::map<std::string, uint64_t> rows;   // by kind, as read; what the ledger counts as written
  std::vector<format::Problem> problems;  // the first kMaxProblems
  uint64_t problem_count = 0;
  std::vector<LostWindow> lost_windows;  // by channel and number
  bool has_faults = false;               // a problem other than something newer that was skipped

  // Whether its GPU work is that of phases, chosen so as to stay within a budget: sums and counts
  // are then not those of the whole session.
  bool is_budgeted() const;
  // The phase that was under way where the log breaks off, which has no row for that reason: from
  // the last event on, else from the session's start. Work alone says nothing, because kernels that
  // were launched in a phase may begin after it.
  std::optional<Interval> open_phase() const;
  // The event by which the session says what may open deep windows; null: nothing but a call or a
  // command.
  const base::Json* armed_windows() const;
  // Of all engines together, with the open phase, whose cost nobody knows.
  EngineCoverage all_coverage() const;

  static constexpr size_t kMaxEvents = 200;
  static constexpr size_t kMaxProblems = 100;
};

// Gathers a summary from lines in log order.
class SummaryBuilder : public format::Visitor {
 public:
  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override;
  void on_object(format::Kind kind, const base::Json& line) override;
  void on_problem(const format::Problem& problem) override;
  void on_window(const format::WindowFile& window) override;
  void on_window_end(const format::WindowFile& window, uint64_t lines) override;

  // Everything that lines tell; header, dir and live are the caller's. Call once.
  SessionSummary finish();
  // The same with what the reader knows besides.
  SessionSummary finish(const format::SessionReader& reader);

 private:
  void see_times(const format::Batch& batch);
  void see_device(const base::Json& line);
  void see_capability(const base::Json& line);
  void see_event(const base::Json& line);

  SessionSummary summary_;
  std::optional<int64_t> end_ns_;
  bool is_cut_ = false;  // windows of the scope channel are gone, so the session's beginning may be
  LostWindowFinder lost_windows_;
  NameTable names_;
  MarkerTable markers_{names_};
  CounterTable counters_{names_};
  PendingTable pending_{names_};
  MetricTable metrics_{names_};
  CoverageTable coverage_{names_};
  DeepWindowTable deep_windows_{names_};
};

// Fails as SessionReader::open does.
base::Result<SessionSummary> summarize(const std::filesystem::path& session_dir);

}  // namespace gpufl::analysis
