// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/tables/tables.hpp"

// Puts the rows of tables in order of their start; rows that start together keep their order.
// Logs are almost sorted (each device, thread or channel by itself is), so this merges the runs
// that are there: linear for a sorted table, n log(runs) else. One thread.
namespace gpufl::analysis {

// Row i of the sorted table is row `order[i]` of this one; empty: it is sorted.
std::vector<uint32_t> order_by_start(std::span<const int64_t> starts);

// Row i becomes what row `order[i]` was; a column that is empty stays so.
template <typename T>
void reorder(std::vector<T>& column, const std::vector<uint32_t>& order) {
  if (column.empty()) return;
  std::vector<T> moved(order.size());
  for (size_t row = 0; row < order.size(); ++row) moved[row] = column[order[row]];
  column = std::move(moved);
}
inline void reorder(NarrowColumn& column, const std::vector<uint32_t>& order) {
  if (!column.empty()) column.reorder(order);
}

void sort_tables(Tables& tables);

}  // namespace gpufl::analysis
