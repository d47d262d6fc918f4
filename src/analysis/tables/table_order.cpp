// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/table_order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/tables/table_columns.hpp"

namespace gpufl::analysis {
namespace {

const std::vector<int64_t>& start_of(const Work& table) { return table.start; }
const std::vector<int64_t>& start_of(const Scopes& table) { return table.start; }
const std::vector<int64_t>& start_of(const Markers& table) { return table.start; }
const std::vector<int64_t>& start_of(const Samples& table) { return table.time; }

}  // namespace

std::vector<uint32_t> order_by_start(std::span<const int64_t> starts) {
  std::vector<size_t> ends;  // of runs
  for (size_t row = 1; row < starts.size(); ++row) {
    if (starts[row] < starts[row - 1]) ends.push_back(row);
  }
  if (ends.empty()) return {};
  ends.push_back(starts.size());

  std::vector<uint32_t> order(starts.size());
  std::vector<uint32_t> merged(starts.size());
  std::iota(order.begin(), order.end(), 0);
  const auto is_earlier = [starts](uint32_t a, uint32_t b) { return starts[a] < starts[b]; };
  while (ends.size() > 1) {
    std::vector<size_t> merged_ends;
    size_t begin = 0;
    for (size_t run = 0; run < ends.size(); run += 2) {
      const size_t middle = ends[run];
      const size_t end = run + 1 < ends.size() ? ends[run + 1] : middle;
      const auto at = [&](size_t index) { return order.begin() + static_cast<ptrdiff_t>(index); };
      std::merge(at(begin), at(middle), at(middle), at(end),
                 merged.begin() + static_cast<ptrdiff_t>(begin), is_earlier);
      merged_ends.push_back(end);
      begin = end;
    }
    order.swap(merged);
    ends = std::move(merged_ends);
  }
  return order;
}

void sort_tables(Tables& tables) {
  each_table(tables, [](auto& table) {
    const std::vector<uint32_t> order = order_by_start(start_of(table));
    if (order.empty()) return;
    each_column(table, [&](auto& column) { reorder(column, order); });
  });
}

}  // namespace gpufl::analysis
