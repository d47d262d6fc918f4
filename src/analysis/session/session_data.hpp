// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/code/code_map.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/kernel_names.hpp"
#include "analysis/session/made_once.hpp"
#include "analysis/session/passes.hpp"
#include "analysis/session/scope_paths.hpp"
#include "analysis/summary/summary.hpp"
#include "analysis/tables/tables.hpp"
#include "base/status.hpp"
#include "symbols/symbolize_session.hpp"

// A session or a run in memory: the tables, and what summarize() tells of the same log. Loading
// reads every file once, its lines decoded in parallel; memory is proportional to the rows.
namespace gpufl::analysis {

struct SessionData {
  SessionSummary summary;  // of the whole session
  Tables tables;
  CodeMap code;
  MadeOnce<KernelNames> made_names{};
  MadeOnce<std::shared_ptr<const ScopePaths>> made_paths{};
  // Whose rows were asked for; none: all. Others may be there as well, so look at it through
  // options with this window.
  std::optional<Interval> window = std::nullopt;
  // Of a process that several passes were merged of; null: all is of this session.
  std::shared_ptr<const MergedPasses> passes = nullptr;

  // The sessions that samples of the program counter, and counts by instruction, were recorded in:
  // this one, or those of other passes.
  const SessionData& sampled() const;
  const SessionData& counted() const;
  // Made once, of the tables as they are then.
  const KernelNames& kernel_names() const;
  // As scope_paths() of the tables; of options that ask for all scopes, made once.
  std::shared_ptr<const ScopePaths> scope_paths(const AnalysisOptions& options) const;
};

struct LoadOptions {
  unsigned threads = 0;                           // 0: as many as the machine has
  std::optional<Interval> window = std::nullopt;  // only rows that have time in it; none: all
  uint64_t most_rows = 0;  // of a session with more, about as many of its end; 0: no bound
  // Where native frames have no symbols beside the log, how to find them out; null: they stay
  // modules and offsets.
  const symbols::SymbolizeOptions* symbolize = nullptr;
  // Bytes of files read so far and of all; called from the calling thread, a few times a second.
  // False: loading stops after the window that is being read, and fails with Cancelled.
  std::function<bool(uint64_t done, uint64_t total)> progress = nullptr;
};

// Fails as SessionReader::open does.
base::Result<SessionData> load(const std::filesystem::path& session_dir,
                               const LoadOptions& options = {});

// By which the sessions of a run are ordered: by rank, then by id, which begins with their time.
inline auto place_in_run(const format::SessionHeader& header) {
  return std::tie(header.rank, header.session_id);
}

// Session time 0 of each after that of the earliest, of sessions of one run. Those of one boot of
// one machine go by its monotonic clock, which nobody sets; only machines are set against each
// other by the wall clock.
std::vector<int64_t> offsets_in_run(const std::vector<format::SessionHeader>& headers);

// All sessions of one launch, on one time axis.
struct RunData {
  std::string id;
  std::vector<SessionData> sessions;  // by place_in_run()
  std::vector<int64_t> offset_ns;     // session time 0 of each after that of the earliest
  std::vector<std::string> problems;  // sessions that could not be read, and why
  std::vector<std::string> copies;    // sentences: those that are there twice, and count once
};

// `path`: a session, or a run's folder. NotFound when there is none that can be read.
base::Result<RunData> load_run(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace gpufl::analysis
