// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/loop_syncs.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/stats.hpp"
#include "analysis/wait_calls.hpp"
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

// The pause that a wait leaves: the one that lasts when it returns.
int64_t pause_after(const DeviceIdle& idle, int64_t end_ns) {
  const std::vector<Gap>& gaps = idle.gaps();
  const auto gap = std::partition_point(gaps.begin(), gaps.end(),
                                        [&](const Gap& g) { return g.span.end <= end_ns; });
  return gap == gaps.end() || gap->span.start > end_ns ? 0 : gap->span.length();
}

// How long the loop's thread is blocked in the loop by waits of other lines.
int64_t blocked_elsewhere(const SessionView& view, const LoopSync& loop, int64_t thread) {
  const Waits& waits = view.tables.waits;
  int64_t blocked_ns = 0;
  const auto first = std::lower_bound(waits.start.begin(), waits.start.end(), loop.span.start);
  for (auto row = static_cast<size_t>(first - waits.start.begin());
       row < waits.rows() && waits.start[row] < loop.span.end; ++row) {
    if (view.thread_of(waits, row) != thread) continue;
    if (line_key(view.site_of(waits, row)) == line_key(*loop.line.site)) continue;
    blocked_ns += waits.duration[row];
  }
  return blocked_ns;
}

// Without the wait the host runs ahead, so that each turn of the loop takes what the busier of the
// two takes: the host without its wait, or the GPU without its pauses. Turn by turn, because a long
// pause of another reason in one of them is nothing that other turns could use.
void estimate(const SessionView& view, LoopSync& loop) {
  const Waits& waits = view.tables.waits;
  const std::vector<uint32_t>& rows = loop.line.waits;
  const DeviceIdle& idle = view.idle(loop.device);
  const int64_t elsewhere = blocked_elsewhere(view, loop, view.thread_of(waits, rows.front()));
  loop.has_other_waits = elsewhere * 20 > loop.line.blocked_ns;
  for (size_t i = 0; i + 1 < rows.size(); ++i) {
    const Interval turn{waits.end(rows[i]), waits.end(rows[i + 1])};
    const int64_t in_turn = idle.idle_ns(turn);
    const int64_t idle_ns =
        loop.has_other_waits ? std::min(in_turn, pause_after(idle, turn.start)) : in_turn;
    loop.idle_ns += idle_ns;
    loop.gain_ns += static_cast<double>(std::min<int64_t>(waits.duration[rows[i + 1]], idle_ns));
  }
}

}  // namespace

std::vector<SyncLine> sync_lines(const SessionView& view) {
  std::map<std::tuple<std::string_view, int64_t, std::string_view>, SyncLine> lines;
  const Waits& waits = view.tables.waits;
  for (size_t row = 0; row < waits.rows(); ++row) {
    if (!view.selection.includes(waits, row)) continue;
    const CodeSite& site = view.site_of(waits, row);
    if (site.text.empty()) continue;
    SyncLine& line = lines[line_key(site)];
    line.site = &site;
    line.waits.push_back(static_cast<uint32_t>(row));
    line.blocked_ns += waits.duration[row];
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
    if (line.site->text == symbols::kDriverInternal) continue;
    std::erase_if(line.waits, [&](uint32_t row) {
      const bool blocks_nobody = !waits.call.empty() && waits.call[row] == kStreamWaitEvent;
      if (blocks_nobody) line.blocked_ns -= waits.duration[row];
      return blocks_nobody;
    });
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
