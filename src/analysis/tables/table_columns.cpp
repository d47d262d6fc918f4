// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/table_columns.hpp"

namespace gpufl::analysis {
namespace {

template <typename T>
size_t bytes_of(const std::vector<T>& column) {
  return column.capacity() * sizeof(T);
}
size_t bytes_of(const NarrowColumn& column) { return column.bytes(); }

}  // namespace

size_t memory_of(const Tables& tables) {
  size_t total = bytes_of(tables.lanes) + bytes_of(tables.callers);
  each_table(tables, [&](const auto& table) {
    each_column(table, [&](const auto& column) { total += bytes_of(column); });
  });
  for (const auto& [kind, rows] : tables.others) {
    for (size_t i = 0; i < rows.kind_spec().columns.size(); ++i) total += bytes_of(rows.column(i));
  }
  return total;
}

}  // namespace gpufl::analysis
