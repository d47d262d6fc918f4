// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/loop_syncs.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/math/stats.hpp"
#include "analysis/tables/wait_calls.hpp"
#include "symbols/code_stack.hpp"

namespace gpufl::analysis {
namespace {

// What makes two sites the same line.
using LineKey = std::tuple<std::string_view, int64_t, std::string_view>;
LineKey line_key(const CodeSite& site) {
  if (site.line > 0) return {site.file, site.line, {}};
  return {site.file, 0, site.text};
}

// Numbers the lines of waits. Most waits have a stack that another has had.
class LineNumbers {
 public:
  explicit LineNumbers(const SessionView& view) : view_(view) {}

  uint32_t of(size_t wait) {
    const auto [known, is_new] =
        of_stack_.try_emplace(SessionView::stack_of(view_.tables.waits, wait));
    if (is_new) known->second = of(view_.site_of(view_.tables.waits, wait));
    return known->second;
  }
  uint32_t of(const CodeSite& site) {
    return lines_.try_emplace(line_key(site), static_cast<uint32_t>(lines_.size())).first->second;
  }

 private:
  const SessionView& view_;
  std::unordered_map<uint32_t, uint32_t> of_stack_;
  std::map<LineKey, uint32_t> lines_;
};

// How long waits, which are added in order of their start, block the host in any span of time.
class BlockedTime {
 public:
  void add(int64_t start, int64_t duration) {
    starts_.push_back(start);
    sums_.push_back(sums_.back() + static_cast<uint64_t>(duration));
  }
  // Of those that begin in it.
  uint64_t in(Interval span) const { return before(span.end) - before(span.start); }

 private:
  uint64_t before(int64_t time_ns) const {
    const auto first = std::lower_bound(starts_.begin(), starts_.end(), time_ns);
    return sums_[static_cast<size_t>(first - starts_.begin())];
  }

  std::vector<int64_t> starts_;
  std::vector<uint64_t> sums_ = {0};  // of those before each
};

// Of each thread, and of each of its lines.
class BlockedThreads {
 public:
  explicit BlockedThreads(const SessionView& view) : lines_(view) {
    const Waits& waits = view.tables.waits;
    for (size_t row = 0; row < waits.rows(); ++row) {
      if (!holds_host(waits, row)) continue;
      Thread& thread = threads_[view.thread_of(waits, row)];
      thread.all.add(waits.start[row], waits.duration[row]);
      thread.lines[lines_.of(row)].add(waits.start[row], waits.duration[row]);
    }
  }

  // How long a thread is blocked in a span by waits of other lines than this one.
  int64_t blocked_elsewhere(int64_t thread, const CodeSite& site, Interval span) {
    Thread& of_thread = threads_[thread];
    return static_cast<int64_t>(of_thread.all.in(span) - of_thread.lines[lines_.of(site)].in(span));
  }

 private:
  struct Thread {
    BlockedTime all;
    std::unordered_map<uint32_t, BlockedTime> lines;
  };
  LineNumbers lines_;
  std::unordered_map<int64_t, Thread> threads_;
};

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
void estimate(const SessionView& view, BlockedThreads& blocked, LoopSync& loop) {
  const Waits& waits = view.tables.waits;
  const std::vector<uint32_t>& rows = loop.line.waits;
  const GapList& gaps = view.idle(loop.device).gaps();
  const int64_t elsewhere =
      blocked.blocked_elsewhere(view.thread_of(waits, rows.front()), *loop.line.site, loop.span);
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

std::string_view wait_name(const Waits& waits, const SyncLine& line) {
  std::map<uint8_t, int64_t> blocked;
  for (const uint32_t row : line.waits) {
    blocked[waits.wait_kind.empty() ? 0 : waits.wait_kind[row]] += waits.duration[row];
  }
  const auto most =
      std::max_element(blocked.begin(), blocked.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return wait_call_name(most->first);
}

std::vector<SyncLine> sync_lines(const SessionView& view) {
  LineNumbers numbers(view);
  std::vector<SyncLine> lines;
  std::unordered_map<uint64_t, size_t> places;  // by line, and whether it holds a stream
  const Waits& waits = view.tables.waits;
  for (size_t row = 0; row < waits.rows(); ++row) {
    if (!view.selection.includes(waits, row)) continue;
    const CodeSite& site = view.site_of(waits, row);
    if (site.text.empty()) continue;
    const bool holds_stream = !holds_host(waits, row);
    const auto [place, is_new] =
        places.try_emplace(uint64_t{numbers.of(row)} << 1 | (holds_stream ? 1 : 0), lines.size());
    if (is_new) lines.emplace_back().holds_stream = holds_stream;
    SyncLine& line = lines[place->second];
    line.site = &site;
    line.waits.push_back(static_cast<uint32_t>(row));
    if (!holds_stream) line.blocked_ns += waits.duration[row];
  }
  std::sort(lines.begin(), lines.end(), [](const SyncLine& a, const SyncLine& b) {
    if (a.blocked_ns != b.blocked_ns) return a.blocked_ns > b.blocked_ns;
    return std::pair(line_key(*a.site), a.holds_stream) <
           std::pair(line_key(*b.site), b.holds_stream);
  });
  return lines;
}

std::vector<LoopSync> find_loop_syncs(const SessionView& view) {
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
    loops.push_back(std::move(loop));
  }
  return loops;
}

std::vector<LoopSync> estimated_loop_syncs(const SessionView& view) {
  std::vector<LoopSync> loops = find_loop_syncs(view);
  if (loops.empty()) return loops;
  BlockedThreads blocked(view);
  for (LoopSync& loop : loops) estimate(view, blocked, loop);
  return loops;
}

}  // namespace gpufl::analysis
