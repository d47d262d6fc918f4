// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/memory_usage.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/figures/busy.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/figures/recorded_time.hpp"
#include "analysis/math/saturating.hpp"
#include "analysis/session/selection.hpp"

namespace gpufl::analysis {

namespace {

using Key = std::pair<int64_t, MemoryKind>;  // device, kind

struct Block {
  Key key;
  int64_t bytes;
};

struct Gathering {
  explicit Gathering(Interval span, size_t points) : series(span, points) {}

  void change(int64_t time_ns, int64_t bytes) {
    series.hold(since_ns, time_ns, static_cast<double>(live));
    since_ns = time_ns;
    live = saturating_add(live, bytes);
    if (live > usage.peak_bytes) {
      usage.peak_bytes = live;
      usage.peak_ns = time_ns;
    }
  }

  MemoryUsage usage;
  SeriesBuilder series;
  int64_t live = 0, since_ns = 0;
  std::optional<int64_t> call_ns;  // of the calls whose times are known
};

}  // namespace

Figure<std::vector<MemoryUsage>> memory_usage(const SessionData& session,
                                              const AnalysisOptions& options) {
  const Tables& tables = session.tables;
  const Allocations& rows = tables.allocations;
  if (rows.rows() == 0) {
    return missing_option(session, "allocations were", "enable_memory_tracking");
  }
  if (session.summary.is_budgeted()) {
    return Unknown{"allocations and releases between the phases that were traced are not known",
                   "record without a budget"};
  }
  const Intervals recorded = recorded_spans(session, options);
  const Interval span =
      recorded.empty() ? Interval{} : Interval{recorded.front().start, recorded.back().end};
  const auto seconds = static_cast<double>(total_length(recorded)) / 1e9;
  const Selection selection(tables, options);

  std::map<Key, Gathering> groups;
  std::unordered_map<uint64_t, Block> live;  // by address
  for (size_t row = 0; row < rows.rows(); ++row) {
    if (!selection.includes(rows, row)) continue;
    const bool is_release =
        rows.operation[row] == static_cast<uint8_t>(format::MemoryOperation::Release);
    const uint8_t kind = rows.memory.empty() ? 0 : rows.memory[row];
    Key key{tables.lanes[rows.lane[row]].device,
            kind <= static_cast<uint8_t>(MemoryKind::ManagedStatic) ? static_cast<MemoryKind>(kind)
                                                                    : MemoryKind::Unknown};
    const uint64_t address = rows.address.empty() ? 0 : rows.address[row];
    const auto block = live.find(address);
    // A release belongs where its memory came from, whatever its own row says.
    if (is_release && block != live.end()) key = block->second.key;
    Gathering& group = groups.try_emplace(key, span, options.series_points).first->second;
    if (const int64_t call_ns = rows.call_duration(row); call_ns != kNoDuration) {
      group.call_ns = saturating_add(group.call_ns.value_or(0), call_ns);
    }
    if (is_release) {
      ++group.usage.releases;
      if (block == live.end()) {
        ++group.usage.unmatched_releases;
      } else {
        group.change(rows.start[row], -block->second.bytes);
        --group.usage.end_allocations;
        live.erase(block);
      }
      continue;
    }
    const int64_t bytes = rows.bytes.empty() ? 0 : std::max<int64_t>(rows.bytes[row], 0);
    if (block != live.end()) {
      // The release of what was there is not in the log.
      Gathering& former = groups.at(block->second.key);
      former.change(rows.start[row], -block->second.bytes);
      --former.usage.end_allocations;
      live.erase(block);
    }
    ++group.usage.allocations;
    ++group.usage.end_allocations;
    group.usage.allocated_bytes = saturating_add(group.usage.allocated_bytes, bytes);
    group.change(rows.start[row], bytes);
    live.emplace(address, Block{key, bytes});
  }

  std::vector<MemoryUsage> out;
  for (auto& [key, group] : groups) {
    group.series.hold(group.since_ns, span.end, static_cast<double>(group.live));
    MemoryUsage& usage = out.emplace_back(std::move(group.usage));
    std::tie(usage.device, usage.kind) = key;
    usage.end_bytes = group.live;
    if (seconds > 0) {
      usage.allocations_per_second = static_cast<double>(usage.allocations) / seconds;
    }
    usage.call_ns = group.call_ns
                        ? Figure<int64_t>(*group.call_ns)
                        : Figure<int64_t>(missing_option(session, "the times of API calls were",
                                                         "the engine Trace"));
    usage.live_bytes = group.series.finish();
  }
  return out;
}

}  // namespace gpufl::analysis
