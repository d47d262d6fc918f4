// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/wait_launches.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analysis/figures/missing.hpp"
#include "analysis/math/saturating.hpp"
#include "analysis/tables/wait_calls.hpp"

namespace gpufl::analysis {
namespace {

constexpr int64_t kNoThread = 0;

// The waits of one thread that follow each other, in order of time.
class ThreadWaits {
 public:
  void add(uint32_t row) { rows_.push_back(row); }

  // The first that begins after `time_ns`; kNoRow: none does. Quick where times mostly grow.
  uint32_t next(const Waits& waits, int64_t time_ns) {
    const auto is_after = [&](size_t place) { return waits.start[rows_[place]] > time_ns; };
    const bool is_near =
        (place_ == 0 || !is_after(place_ - 1)) && (place_ == rows_.size() || is_after(place_));
    if (!is_near) {
      const auto found =
          std::upper_bound(rows_.begin(), rows_.end(), time_ns,
                           [&](int64_t time, uint32_t row) { return time < waits.start[row]; });
      place_ = static_cast<size_t>(found - rows_.begin());
    }
    return place_ == rows_.size() ? kNoRow : rows_[place_];
  }
  // The one before a row: kNoRow if that is the first.
  uint32_t before(uint32_t row) const {
    const auto found = std::lower_bound(rows_.begin(), rows_.end(), row);
    return found == rows_.begin() ? kNoRow : *std::prev(found);
  }

 private:
  std::vector<uint32_t> rows_;
  size_t place_ = 0;  // what next() found last
};

class Launches {
 public:
  Launches(const SessionView& view, const std::vector<SyncLine>& lines)
      : view_(view),
        waits_(view.tables.waits),
        lines_(lines),
        line_of_(waits_.rows(), kNoRow),
        kernels_(lines.size()),
        graphs_(lines.size()) {
    for (size_t line = 0; line < lines.size(); ++line) {
      for (const uint32_t row : lines[line].waits) line_of_[row] = static_cast<uint32_t>(line);
    }
    for (uint32_t row = 0; row < waits_.rows(); ++row) {
      const int64_t thread = view.thread_of(waits_, row);
      if (thread == kNoThread) continue;
      all_[thread].add(row);
      if (holds_host(waits_, row)) of_host_[thread].add(row);
    }
  }

  WaitLaunches find(size_t most) {
    WaitLaunches found;
    found.kernels_without_call = count_kernels();
    visit(view_.tables.graphs, [&](size_t, uint32_t line) { ++graphs_[line]; });
    for (size_t line = 0; line < lines_.size(); ++line) {
      found.lines.push_back({typical(line), longest(line), launched(line, most)});
    }
    return found;
  }

 private:
  // Calls `add` with the line that each row was launched before; how many nobody can place.
  template <class Add>
  uint64_t visit(const Work& work, Add add) {
    uint64_t unplaced = 0;
    for (size_t row = 0; row < work.rows(); ++row) {
      const int64_t thread = view_.thread_of(work, row), asked_ns = work.call_start(row);
      if (thread == kNoThread || asked_ns == kNoTime) {
        ++unplaced;
        continue;
      }
      const uint32_t host_line = next_line(of_host_, thread, asked_ns);
      if (host_line != kNoRow) add(row, host_line);
      const uint32_t line = next_line(all_, thread, asked_ns);
      if (line != kNoRow && lines_[line].holds_stream) add(row, line);
    }
    return unplaced;
  }

  using Threads = std::unordered_map<int64_t, ThreadWaits>;
  uint32_t next_line(Threads& threads, int64_t thread, int64_t asked_ns) const {
    const auto found = threads.find(thread);
    if (found == threads.end()) return kNoRow;
    const uint32_t wait = found->second.next(waits_, asked_ns);
    return wait == kNoRow ? kNoRow : line_of_[wait];
  }

  uint64_t count_kernels() {
    const Kernels& kernels = view_.tables.kernels;
    const uint64_t unplaced = visit(kernels, [&](size_t row, uint32_t line) {
      const uint32_t name = view_.tables.config(kernels.config[row]).name;
      LaunchedKernel& kernel = kernels_[line][name];
      kernel.name = name;
      ++kernel.count;
      kernel.gpu_ns = saturating_add(kernel.gpu_ns, kernels.duration[row]);
    });
    has_placed_ = unplaced < kernels.rows() || kernels.rows() == 0;
    return unplaced;
  }

  Figure<LaunchedWork> launched(size_t line, size_t most) const {
    const auto& rows = lines_[line].waits;
    if (!view_.overview.kernels) return view_.overview.kernels.unknown();
    if (!has_placed_) return missing_call_times(view_.session);
    const bool has_thread = std::any_of(rows.begin(), rows.end(), [&](uint32_t row) {
      return view_.thread_of(waits_, row) != kNoThread;
    });
    if (!has_thread) return Unknown{"the log does not say which thread waited", ""};
    LaunchedWork work;
    work.graphs = graphs_[line];
    for (const auto& [name, kernel] : kernels_[line]) work.kernels.push_back(kernel);
    std::sort(work.kernels.begin(), work.kernels.end(),
              [](const LaunchedKernel& a, const LaunchedKernel& b) {
                return std::tuple(b.gpu_ns, b.count, a.name) <
                       std::tuple(a.gpu_ns, a.count, b.name);
              });
    for (; work.kernels.size() > most; work.kernels.pop_back()) {
      ++work.other_kernels;
      work.others.count += work.kernels.back().count;
      work.others.gpu_ns = saturating_add(work.others.gpu_ns, work.kernels.back().gpu_ns);
    }
    return work;
  }

  LineWait typical(size_t line) const {
    std::vector<uint32_t> rows = lines_[line].waits;
    const auto middle = rows.begin() + static_cast<std::ptrdiff_t>((rows.size() - 1) / 2);
    std::nth_element(rows.begin(), middle, rows.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(int64_t{waits_.duration[a]}, a) <
             std::tuple(int64_t{waits_.duration[b]}, b);
    });
    return wait_at(*middle);
  }
  LineWait longest(size_t line) const {
    const auto& rows = lines_[line].waits;
    return wait_at(*std::max_element(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
      return waits_.duration[a] < waits_.duration[b];
    }));
  }
  LineWait wait_at(uint32_t row) const {
    LineWait wait{{waits_.start[row], waits_.end(row)}, {}};
    const Threads& threads = holds_host(waits_, row) ? of_host_ : all_;
    const auto found = threads.find(view_.thread_of(waits_, row));
    const uint32_t before = found == threads.end() ? kNoRow : found->second.before(row);
    if (before != kNoRow) wait.before = Interval{waits_.start[before], waits_.end(before)};
    return wait;
  }

  const SessionView& view_;
  const Waits& waits_;
  const std::vector<SyncLine>& lines_;
  std::vector<uint32_t> line_of_;  // by row of the waits; kNoRow: of none
  Threads of_host_, all_;
  std::vector<std::unordered_map<uint32_t, LaunchedKernel>> kernels_;  // by line, then by name
  std::vector<uint64_t> graphs_;                                       // by line
  bool has_placed_ = false;
};

}  // namespace

WaitLaunches wait_launches(const SessionView& view, const std::vector<SyncLine>& lines,
                           size_t most) {
  if (lines.empty()) return {};
  return Launches(view, lines).find(most);
}

}  // namespace gpufl::analysis
