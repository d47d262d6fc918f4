// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/merge_passes.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/figures/missing.hpp"
#include "analysis/figures/pass_mismatches.hpp"
#include "format/columns.hpp"
#include "format/engines.hpp"

namespace gpufl::analysis {
namespace {

using format::Kind;

// Rows that a pass is taken for, and the engines that record them, the most fitting first.
struct Wanted {
  Kind kind;
  std::array<std::string_view, 2> engines;
  std::string_view what;
};
constexpr Wanted kWantedStalls{
    Kind::PcSample, {format::kSamplingEngine, format::kDeepEngine}, "stalls"};
constexpr Wanted kWantedCounts{
    Kind::SassMetric, {format::kSassEngine, format::kDeepEngine}, "counts by instruction"};
constexpr Wanted kWantedRanges{
    Kind::RangeMetric, {"RangeProfiler", "RangeProfilerKernelReplay"}, "hardware counters"};

bool has_rows(const SessionData& session, Kind kind) {
  const auto found = session.tables.others.find(kind);
  return found != session.tables.others.end() && !found->second.empty();
}

Unknown why_missing(const Wanted& wanted, const SessionData& session) {
  return wanted.kind == Kind::PcSample
             ? missing_samples(session.summary)
             : missing_rows(session.summary, std::string(wanted.what), wanted.engines);
}

// The pass that has them, or why none has; `session`: where to look for them, or for the reason.
struct Source {
  Figure<size_t> pass;
  std::optional<size_t> session;
};

Source source_of(const Wanted& wanted, const std::vector<const SessionData*>& sessions,
                 const std::vector<SessionPass>& passes) {
  Source source{Unknown{fmt::format("no pass was to record {}", wanted.what),
                        fmt::format("add {} to --passes", wanted.engines.front())},
                std::nullopt};
  for (const std::string_view engine : wanted.engines) {
    for (size_t pass = 0; pass < passes.size(); ++pass) {
      if (passes[pass].asked != engine) continue;
      const SessionData* const session = sessions[pass];
      if (session != nullptr && has_rows(*session, wanted.kind)) return {pass, pass};
      if (source.session) continue;  // the reason of the most fitting one
      if (session == nullptr) {
        source.pass = Unknown{
            fmt::format("the process has no session in pass {}, {}", pass + 1, passes[pass].asked),
            ""};
      } else {
        source.pass = why_missing(wanted, *session);
        source.session = pass;
      }
    }
  }
  return source;
}

std::optional<uint64_t> counted_launches(const SessionSummary& summary) {
  if (!summary.ledger || summary.is_budgeted()) return std::nullopt;
  return summary.ledger->launches_seen;
}

SessionPass describe_pass(const SessionData* session, const std::string& asked) {
  SessionPass pass;
  pass.asked = asked;
  if (session == nullptr) return pass;
  const SessionSummary& summary = session->summary;
  pass.got = summary.header.engine;
  for (const Capability& note : summary.capabilities) {
    if (note.feature != "profiling_engine" || note.is_as_asked()) continue;
    pass.why = {note.detail.empty() ? note.reason : note.detail, note.hint};
    break;
  }
  pass.session_id = summary.header.session_id;
  pass.dir = summary.dir;
  pass.duration_ns = summary.duration_ns;
  pass.has_end = summary.ended;
  pass.launches = counted_launches(summary);
  if (records_gpu_work(*session)) {
    pass.kernels = summary.activity.kernels;
    pass.kernel_ns = summary.activity.kernel_ns;
  }
  return pass;
}

// Ids of a dictionary of one session as ids of the same texts in another one.
class Translation {
 public:
  Translation(const std::vector<std::string>& from, std::vector<std::string>& into)
      : from_(from), into_(into) {
    for (uint32_t id = 0; id < into.size(); ++id) known_.try_emplace(into[id], id);
  }
  int64_t of(int64_t id) {
    if (id < 0 || static_cast<uint64_t>(id) >= from_.size()) return id;
    const std::string& text = from_[static_cast<size_t>(id)];
    const auto [found, is_new] = known_.try_emplace(text, static_cast<uint32_t>(into_.size()));
    if (is_new) into_.push_back(text);
    return found->second;
  }

 private:
  const std::vector<std::string>& from_;
  std::vector<std::string>& into_;
  std::unordered_map<std::string, uint32_t> known_;
};

// Scopes by their path and their order among those of it. What has no counterpart is 0: in none.
std::unordered_map<int64_t, int64_t> scopes_of(const SessionData& from, const SessionData& into) {
  const auto ids_by_path = [](const SessionData& session) {
    std::map<std::string, std::vector<int64_t>> ids;
    const auto paths = session.scope_paths({});
    for (size_t row = 0; row < session.tables.scopes.rows(); ++row) {
      const uint32_t path = paths->of_scope[row];
      if (path == kNoRow) continue;
      ids[paths->paths[path].text].push_back(static_cast<int64_t>(session.tables.scopes.id[row]));
    }
    return ids;
  };
  std::unordered_map<int64_t, int64_t> counterparts;
  const auto targets = ids_by_path(into);
  for (const auto& [path, ids] : ids_by_path(from)) {
    const auto target = targets.find(path);
    if (target == targets.end()) continue;
    const size_t both = std::min(ids.size(), target->second.size());
    for (size_t i = 0; i < both; ++i) counterparts[ids[i]] = target->second[i];
  }
  return counterparts;
}

format::Batch translated(const SessionData& from, Kind kind, SessionData& into) {
  format::Batch rows = from.tables.others.at(kind);
  Translation names(from.tables.names, into.tables.names);
  Translation metrics(from.tables.metrics, into.tables.metrics);
  const auto columns = rows.kind_spec().columns;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::vector<int64_t>& values = rows.mutable_column(i);
    if (columns[i].dict == format::Dict::Name || columns[i].dict == format::Dict::Metric) {
      Translation& ids = columns[i].dict == format::Dict::Name ? names : metrics;
      for (int64_t& value : values) value = ids.of(value);
    } else if (columns[i].shown == format::Shown::ScopePath && !values.empty()) {
      const auto scopes = scopes_of(from, into);
      for (int64_t& value : values) {
        const auto scope = scopes.find(value);
        value = scope == scopes.end() ? 0 : scope->second;
      }
    } else if (columns[i].name == "correlation") {
      values.clear();  // of calls of another pass
    }
  }
  return rows;
}

SessionData merge_process(const ProcessSessions& process, const std::vector<size_t>& by_cost,
                          std::vector<SessionData>& all) {
  std::vector<const SessionData*> sessions;
  for (const auto& place : process) sessions.push_back(place ? &all[*place] : nullptr);
  auto merged = std::make_shared<MergedPasses>();
  merged->times = *std::find_if(by_cost.begin(), by_cost.end(),
                                [&](size_t pass) { return process[pass].has_value(); });
  const std::vector<std::string> asked = sessions[merged->times]->summary.header.passes;
  for (size_t pass = 0; pass < sessions.size(); ++pass) {
    merged->list.push_back(describe_pass(sessions[pass], pass < asked.size() ? asked[pass] : ""));
  }
  find_mismatches(sessions, *merged);
  const Source stalls = source_of(kWantedStalls, sessions, merged->list);
  const Source counts = source_of(kWantedCounts, sessions, merged->list);
  const Source ranges = source_of(kWantedRanges, sessions, merged->list);
  merged->stalls = stalls.pass;
  merged->counts = counts.pass;
  merged->ranges = ranges.pass;
  SessionData times = std::move(all[*process[merged->times]]);
  // A pass of both, as of Deep, is one session.
  std::map<size_t, std::shared_ptr<const SessionData>> others;
  const auto take = [&](const Source& source, Kind kind) -> std::shared_ptr<const SessionData> {
    if (!source.session || *source.session == merged->times) return nullptr;
    auto& other = others[*source.session];
    if (!other) {
      other = std::make_shared<const SessionData>(std::move(all[*process[*source.session]]));
    }
    times.tables.others.erase(kind);
    if (source.pass) times.tables.others.emplace(kind, translated(*other, kind, times));
    return other;
  };
  merged->sampled = take(stalls, Kind::PcSample);
  merged->counted = take(counts, Kind::SassMetric);
  take(ranges, Kind::RangeMetric);
  times.passes = std::move(merged);
  return times;
}

}  // namespace

void merge_passes(RunData& run) {
  std::vector<format::SessionHeader> headers;
  for (const SessionData& session : run.sessions) headers.push_back(session.summary.header);
  const std::vector<ProcessSessions> processes = match_processes(headers);
  if (processes.empty()) return;
  const std::vector<size_t> by_cost = passes_by_cost(headers);
  std::vector<SessionData> merged;
  for (const ProcessSessions& process : processes) {
    merged.push_back(merge_process(process, by_cost, run.sessions));
  }
  for (size_t i = 0; i < headers.size(); ++i) {
    if (!is_pass(headers[i])) merged.push_back(std::move(run.sessions[i]));
  }
  std::sort(merged.begin(), merged.end(), [](const auto& a, const auto& b) {
    return place_in_run(a.summary.header) < place_in_run(b.summary.header);
  });
  run.sessions = std::move(merged);
  headers.clear();
  for (const SessionData& session : run.sessions) headers.push_back(session.summary.header);
  run.offset_ns = offsets_in_run(headers);
}

}  // namespace gpufl::analysis
