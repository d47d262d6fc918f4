// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/loop_syncs.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/math/stats.hpp"
#include "analysis/tables/wait_calls.hpp"
#include "symbols/code_stack.hpp"

namespace gpufl::analysis {
namespace {

// What makes two sites the same line.
std::tuple<std::string_view, int64_t, std::string_view> line_key(const CodeSite& site) {
  if (site.line > 0) return {site.file, site.line, {}};
  return {site.file, 0, site.text};
}

double median_launches_between(const SessionView& view, const SyncLine& line) {
  const std::vector<int64_t>& launches = view.launches();
  const auto launches_before = [&](int64_t time_ns) {
    return std::lower_bound(launches.begin(), launches.end(), time_ns) - launches.begin();
  };
  std::vector<int64_t> counts;
  for (size_t i = 0; i + 1 < line.waits.size(); ++i) {
    counts.push_back(launches_before(view.tables.waits.start[line.waits[i + 1]]) -
                     launches_before(view.tables.waits.start[line.waits[i]]));
  }
  return stats_of(std::span(counts)).median;
}

// How long the loop's thread is blocked in the loop by waits of other lines.
int64_t blocked_elsewhere(const SessionView& view, const LoopSync& loop, int64_t thread) {
  const Waits& waits = view.tables.waits;
  int64_t blocked_ns = 0;
  const auto first = std::lower_bound(waits.start.begin(), waits.start.end(), loop.span.start);
  for (auto row = static_cast<size_t>(first - waits.start.begin());
       row < waits.rows() && waits.start[row] < loop.span.end; ++row) {
    if (view.thread_of(waits, row) != thread || !holds_host(waits, row)) continue;
    if (line_key(view.site_of(waits, row)) == line_key(*loop.line.site)) continue;
    blocked_ns += waits.duration[row];
  }
  return blocked_ns;
}

// The first pause that ends after `time_ns`: its number.
size_t first_ending_after(const GapList& gaps, int64_t time_ns) {
  return gaps.count_first([&](const Gap& gap) { return gap.span.end <= time_ns; });
}

// How long after the GPU's last work a wait returns at most, to be the wait's fault: what takes far
// longer than usual is the thread being held up by something else.
int64_t latest_return(const GapList& gaps, const Waits& waits, const std::vector<uint32_t>& rows) {
  constexpr double kFarLonger = 10;
  std::vector<int64_t> returns;
  for (const uint32_t row : rows) {
    const int64_t end = waits.end(row);
    const size_t next = first_ending_after(gaps, end);
    if (next == gaps.size()) continue;
    const int64_t start = gaps[next].span.start;
    if (start < end) returns.push_back(end - start);
  }
  if (returns.empty()) return 0;
  return static_cast<int64_t>(kFarLonger * stats_of(std::span(returns)).median);
}

// Without the wait the host runs ahead, so that each turn of the loop takes what the busier of the
// two takes: the host without its wait, or the GPU with no pauses but its own. Turn by turn,
// because a long pause of another reason in one of them is nothing that other turns could use.
void estimate(const SessionView& view, LoopSync& loop) {
  const Waits& waits = view.tables.waits;
  const std::vector<uint32_t>& rows = loop.line.waits;
  const GapList& gaps = view.idle(loop.device).gaps();
  const int64_t elsewhere = blocked_elsewhere(view, loop, view.thread_of(waits, rows.front()));
  loop.has_other_waits = elsewhere * 20 > loop.line.blocked_ns;
  loop.queued_pause_ns = view.queued_pause_ns(loop.device);
  const double left = loop.queued_pause_ns + view.recording_ns_per_call();
  const int64_t latest = latest_return(gaps, waits, rows);
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    const Interval turn{waits.end(rows[i]), waits.end(rows[i + 1])};
    double saved = 0;
    for (size_t next = first_ending_after(gaps, turn.start); next < gaps.size(); ++next) {
      const Gap gap = gaps[next];
      if (gap.span.end > turn.end) break;
      const bool is_after_wait = gap.span.start <= turn.start;
      if (loop.has_other_waits && !is_after_wait) break;
      if (view.was_queued(gap)) continue;
      const int64_t from = std::max(gap.span.start, turn.start - latest);
      loop.idle_ns += gap.span.end - from;
      saved += std::max(0.0, static_cast<double>(gap.span.end - from) - left);
    }
    loop.gain_ns += std::min(static_cast<double>(waits.duration[rows[i + 1]]), saved);
  }
}

}  // namespace

std::vector<SyncLine> sync_lines(const SessionView& view) {
  using Key = decltype(line_key({}));
  std::map<std::pair<Key, bool>, SyncLine> lines;  // by line, and whether it holds a stream
  const Waits& waits = view.tables.waits;
  for (size_t row = 0; row < waits.rows(); ++row) {
    if (!view.selection.includes(waits, row)) continue;
    const CodeSite& site = view.site_of(waits, row);
    if (site.text.empty()) continue;
    const bool holds_stream = !holds_host(waits, row);
    SyncLine& line = lines[{line_key(site), holds_stream}];
    line.site = &site;
    line.waits.push_back(static_cast<uint32_t>(row));
    line.holds_stream = holds_stream;
    if (!holds_stream) line.blocked_ns += waits.duration[row];
  }
  std::vector<SyncLine> result;
  for (auto& [key, line] : lines) result.push_back(std::move(line));
  std::stable_sort(result.begin(), result.end(), [](const SyncLine& a, const SyncLine& b) {
    return a.blocked_ns > b.blocked_ns;
  });
  return result;
}

std::vector<LoopSync> loop_syncs(const SessionView& view) {
  const auto& limits = view.thresholds.in_loop_sync;
  const Waits& waits = view.tables.waits;
  std::vector<LoopSync> loops;
  for (SyncLine& line : sync_lines(view)) {
    if (line.holds_stream || line.site->text == symbols::kDriverInternal) continue;
    if (line.waits.size() < 2 || static_cast<double>(line.waits.size()) < limits.min_syncs) {
      continue;
    }
    LoopSync loop;
    loop.median_launches = median_launches_between(view, line);
    if (loop.median_launches < limits.min_kernels) continue;
    loop.device = view.device_or_busiest(waits, line.waits.front());
    loop.span = {waits.start[line.waits.front()], waits.end(line.waits.back())};
    loop.line = std::move(line);
    estimate(view, loop);
    loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace gpufl::analysis
