// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/math/saturating.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/work_rows.hpp"
#include "analysis/tables/tables.hpp"

// Which rows the options ask for, as look-ups that cost nothing a row. The tables must outlive a
// selection. Constant once made.
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
  // All rows that begin in the window: of others includes() is false. Of work, scopes or markers.
  template <class Table>
  RowRange rows(const Table& table) const;
  // All rows that have time in the window, and some others: of those left out span() is empty.
  template <class Table>
  RowRange reaching_rows(const Table& table) const;
  std::array<RowRange, 4> reaching_rows(const WorkTables& tables) const;
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

template <class Table>
RowRange Selection::rows(const Table& table) const {
  const auto first_from = [&](int64_t time_ns) {
    return static_cast<size_t>(std::lower_bound(table.start.begin(), table.start.end(), time_ns) -
                               table.start.begin());
  };
  return {first_from(window_.start), first_from(window_.end)};
}

template <class Table>
RowRange Selection::reaching_rows(const Table& table) const {
  RowRange found = rows(table);
  int64_t longest_ns = 0;  // of those that begin before the window
  for (size_t row = 0; row < found.begin; ++row) {
    longest_ns = std::max(longest_ns, int64_t{table.duration[row]});
  }
  const int64_t earliest_ns = saturating_subtract(window_.start, longest_ns);
  const auto first = std::lower_bound(table.start.begin(), table.start.end(), earliest_ns);
  found.begin = static_cast<size_t>(first - table.start.begin());
  return found;
}

}  // namespace gpufl::analysis
