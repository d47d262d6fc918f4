// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "analysis/tables/tables.hpp"

// Work of a GPU whatever its kind: rows of several tables in order of time. Any thread.
namespace gpufl::analysis {

enum class WorkKind : uint8_t { Kernel, Copy, Fill, Graph };

// A row of the table of that kind.
struct WorkRow {
  WorkKind kind = WorkKind::Kernel;
  uint32_t row = 0;
  bool operator==(const WorkRow&) const = default;
};

// Rows of a table from `begin` on, up to `end`.
struct RowRange {
  size_t begin = 0, end = 0;
};

using WorkTables = std::array<const Work*, 4>;  // by WorkKind; null: none of that kind
inline WorkTables work_tables(const Tables& tables) {
  return {&tables.kernels, &tables.copies, &tables.fills, &tables.graphs};
}

// Calls `visit(WorkRow, const Work&)` for these rows of these tables, in order of start; of those
// that start together, kernels first.
template <class Visit>
void visit_in_order(const WorkTables& tables, const std::array<RowRange, 4>& rows, Visit visit) {
  std::array<size_t, 4> next{};
  for (size_t t = 0; t < tables.size(); ++t) next[t] = rows[t].begin;
  for (;;) {
    size_t first = tables.size();
    int64_t first_start = 0;
    int64_t others = std::numeric_limits<int64_t>::max();
    for (size_t t = 0; t < tables.size(); ++t) {
      if (next[t] == rows[t].end) continue;
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
    } while (next[first] < rows[first].end && work.start[next[first]] < others);
  }
}
// For all of their rows.
template <class Visit>
void visit_in_order(const WorkTables& tables, Visit visit) {
  std::array<RowRange, 4> rows;
  for (size_t t = 0; t < tables.size(); ++t) rows[t].end = tables[t] ? tables[t]->rows() : 0;
  visit_in_order(tables, rows, visit);
}

}  // namespace gpufl::analysis
