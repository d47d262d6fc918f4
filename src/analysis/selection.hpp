// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "analysis/analysis_options.hpp"
#include "analysis/gaps.hpp"
#include "analysis/tables.hpp"

// Which rows the options ask for, as look-ups that cost nothing a row; and rows of several tables
// in order of time. The tables must outlive a selection. Constant once made.
namespace gpufl::analysis {

class Selection {
 public:
  Selection(const Tables& tables, const AnalysisOptions& options);

  // Of the devices and scopes that are asked for, whenever it ran.
  bool concerns(const Work& work, size_t row) const {
    return is_everywhere_ || (has_device(work, row) && has_scope(work, row));
  }
  bool includes(const Work& work, size_t row) const {
    return work.start[row] >= window_.start && work.start[row] < window_.end && concerns(work, row);
  }
  bool has_window(int64_t time_ns) const {
    return time_ns >= window_.start && time_ns < window_.end;
  }
  bool has_device(int64_t device) const { return !device_ || *device_ == device; }
  bool has_device(const Work& work, size_t row) const {
    return !device_ || lanes_[work.lane[row]] != 0;
  }
  bool is_all() const { return is_everywhere_ && window_ == kAlways; }
  // kAlways where the options have none.
  Interval window() const { return window_; }
  // The row's time within the window; empty where it has none there.
  Interval span(const Work& work, size_t row) const;
  // Keys of rows for group_stats: those of `column`, and kNoRow for rows that are not included. The
  // column itself where every row is.
  std::span<const uint32_t> keys(const Work& work, const std::vector<uint32_t>& column,
                                 std::vector<uint32_t>& scratch) const;

  // Wider than any session, and so that no sum or difference of two of its times overflows.
  static constexpr Interval kAlways{-(int64_t{1} << 61), int64_t{1} << 61};

 private:
  bool has_scope(const Work& work, size_t row) const {
    return !has_scopes_ || callers_[work.caller[row]] != 0;
  }

  std::optional<int64_t> device_;
  Interval window_ = kAlways;
  bool has_scopes_ = false;  // only some are asked for
  bool is_everywhere_ = true;
  std::vector<uint8_t> lanes_, callers_;  // by index into the tables' lanes and callers
};

// The place of each lane's device among all devices, by number.
struct DeviceIndex {
  explicit DeviceIndex(const Tables& tables);
  std::vector<int64_t> devices;   // sorted
  std::vector<uint32_t> of_lane;  // by index into Tables::lanes
  uint32_t of(const Work& work, size_t row) const { return of_lane[work.lane[row]]; }
  uint32_t find(int64_t device) const;  // kNoRow: not there
};

inline Interval Selection::span(const Work& work, size_t row) const {
  return {std::max(work.start[row], window_.start), std::min(work.end(row), window_.end)};
}

// Calls `visit(WorkRow, const Work&)` for every row of these tables, in order of start; of those
// that start together, kernels first. A null table is left out.
template <class Visit>
void visit_in_order(const std::array<const Work*, 4>& tables, Visit visit) {
  std::array<size_t, 4> next{};
  for (;;) {
    size_t first = tables.size();
    int64_t first_start = 0;
    int64_t others = std::numeric_limits<int64_t>::max();
    for (size_t t = 0; t < tables.size(); ++t) {
      if (tables[t] == nullptr || next[t] == tables[t]->rows()) continue;
      const int64_t start = tables[t]->start[next[t]];
      if (first == tables.size() || start < first_start) {
        if (first != tables.size()) others = std::min(others, first_start);
        first = t;
        first_start = start;
      } else {
        others = std::min(others, start);
      }
    }
    if (first == tables.size()) return;
    // A run of one table's rows: sessions have far more kernels than anything else.
    const Work& work = *tables[first];
    do {
      visit(WorkRow{static_cast<WorkKind>(first), static_cast<uint32_t>(next[first])}, work);
      ++next[first];
    } while (next[first] < work.rows() && work.start[next[first]] < others);
  }
}

inline std::array<const Work*, 4> work_tables(const Tables& tables) {
  return {&tables.kernels, &tables.copies, &tables.fills, &tables.graphs};
}

}  // namespace gpufl::analysis
