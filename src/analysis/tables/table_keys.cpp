// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/table_keys.hpp"

#include <algorithm>

namespace gpufl::analysis {

size_t TableKeys::Hash::operator()(const Key& key) const {
  // Ids are small and dense, so they must be spread.
  uint64_t hash = 0;
  for (const int64_t part : key) {
    hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

uint32_t TableKeys::index_of(const Key& key) {
  const auto [entry, is_new] = indices_.try_emplace(key, static_cast<uint32_t>(keys_.size()));
  if (is_new) keys_.push_back(key);
  return entry->second;
}

void TableKeys::append(const format::Batch& batch, const Columns& columns,
                       std::vector<uint32_t>& out) {
  Key key = absent_;
  // Columns that are there, and which part of the key each is.
  std::array<const int64_t*, 3> values{};
  std::array<size_t, 3> parts{};
  size_t present = 0;
  for (size_t part = 0; part < columns.size(); ++part) {
    if (columns[part] == format::kNoColumn || !batch.has(columns[part])) continue;
    values[present] = batch.column(columns[part]).data();
    parts[present++] = part;
  }
  const size_t rows = batch.rows();
  const size_t before = out.size();
  out.resize(before + rows);
  for (size_t row = 0; row < rows;) {
    size_t end = rows;  // of the run of equal keys
    for (size_t i = 0; i < present; ++i) {
      const int64_t* const column = values[i];
      const int64_t value = key[parts[i]] = column[row];
      size_t same = row + 1;
      while (same < end && column[same] == value) ++same;
      end = same;
    }
    std::fill(out.data() + before + row, out.data() + before + end, index_of(key));
    row = end;
  }
}

}  // namespace gpufl::analysis
