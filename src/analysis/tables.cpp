// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables.hpp"

#include "analysis/table_columns.hpp"

namespace gpufl::analysis {
namespace {

template <typename T>
size_t bytes_of(const std::vector<T>& column) {
  return column.capacity() * sizeof(T);
}
size_t bytes_of(const NarrowColumn& column) { return column.bytes(); }

}  // namespace

const LaunchConfig& Tables::config(uint32_t id) const {
  static const LaunchConfig kUnknown = [] {
    LaunchConfig config;
    config.name = kNoRow;
    return config;
  }();
  return id < configs.size() ? configs[id] : kUnknown;
}

const std::string& Tables::text_at(const std::vector<std::string>& texts, uint32_t id) {
  static const std::string kUnknown = "?";
  static const std::string kEmpty;
  if (id == 0) return kEmpty;
  return id < texts.size() ? texts[id] : kUnknown;
}

size_t Tables::bytes() const {
  size_t total = bytes_of(lanes) + bytes_of(callers);
  each_table(*this, [&](const auto& table) {
    each_column(table, [&](const auto& column) { total += bytes_of(column); });
  });
  for (const auto& [kind, rows] : others) {
    for (size_t i = 0; i < rows.kind_spec().columns.size(); ++i) total += bytes_of(rows.column(i));
  }
  return total;
}

}  // namespace gpufl::analysis
