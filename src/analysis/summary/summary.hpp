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
#include "analysis/summary/lost_windows.hpp"
#include "analysis/summary/markers.hpp"
#include "analysis/summary/metric_series.hpp"
#include "analysis/summary/name_table.hpp"
#include "analysis/summary/pending_work.hpp"
#include "analysis/summary/scope_tree.hpp"
#include "analysis/summary/stacks.hpp"
#include "base/json.hpp"
#include "base/status.hpp"
#include "format/capability.hpp"
#include "format/ledger.hpp"
#include "format/session_header.hpp"
#include "format/session_reader.hpp"
#include "symbols/symbolize_session.hpp"

// What a report of one session says, as numbers: the one implementation of each. Reads the whole
// session once; memory is proportional to distinct names and open scopes, not to events.
namespace gpufl::analysis {

using format::Capability;

struct SessionSummary {
  format::SessionHeader header;
  std::filesystem::path dir;
  int64_t duration_ns = 0;               // to the `end` line, else to the newest time in the log
  bool ended = false;                    // has an `end` line
  bool live = false;                     // its process still records
  std::optional<format::Ledger> ledger;  // absent: unclosed, or still running
  std::vector<Capability> capabilities;
  std::vector<base::Json> devices;               // `device` lines, by number
  base::Json host_facts;                         // the event of that name; null when there is none
  std::vector<base::Json> events;                // the first kMaxEvents
  std::map<std::string, uint64_t> event_counts;  // by name, all of them
  ActivityTotals activity;
  std::vector<PendingWork> pending;  // what had not ended when the log ends
  std::vector<ScopeNode> scopes;
  std::vector<MarkerTotal> markers;
  std::vector<CounterTotal> counters;
  std::vector<MetricSeries> metrics;
  CodeSummary code;
  std::map<std::string, uint64_t> rows;   // by kind, as read; what the ledger counts as written
  std::vector<format::Problem> problems;  // the first kMaxProblems
  uint64_t problem_count = 0;
  std::vector<LostWindow> lost_windows;  // by channel and number
  bool has_faults = false;               // a problem other than something newer that was skipped

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

  // Native frames as the log has them.
  const symbols::SessionFrames& frames() const { return stacks_.frames(); }
  // Everything that lines tell, with frames called as `symbols` says; header, dir and live are the
  // caller's. Call once.
  SessionSummary finish(const symbols::SymbolFile& symbols = {});
  // The same with what the reader knows besides, where a CodeMap of those frames and symbols is
  // there already.
  SessionSummary finish(const symbols::SymbolFile& symbols, const CodeMap& code,
                        const format::SessionReader& reader);

 private:
  SessionSummary finish(const symbols::SymbolFile& symbols, const CodeMap& code);
  void see_times(const format::Batch& batch);
  void see_device(const base::Json& line);
  void see_capability(const base::Json& line);
  void see_event(const base::Json& line);

  SessionSummary summary_;
  std::optional<int64_t> end_ns_;
  bool is_cut_ = false;  // windows of the scope channel are gone, so the session's beginning may be
  LostWindowFinder lost_windows_;
  NameTable names_;
  ScopeTree scopes_{names_};
  MarkerTable markers_{names_};
  CounterTable counters_{names_};
  PendingTable pending_{names_};
  MetricTable metrics_{names_};
  StackFigures stacks_;
};

// With the symbols that lie beside the log. Where there are none, or not all, `symbolize` says how
// to find them out; null: frames stay modules and offsets. Fails as SessionReader::open does.
base::Result<SessionSummary> summarize(const std::filesystem::path& session_dir,
                                       const symbols::SymbolizeOptions* symbolize = nullptr);

}  // namespace gpufl::analysis
