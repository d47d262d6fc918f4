// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/table_piece.hpp"

#include <iterator>
#include <string>
#include <utility>

namespace gpufl::analysis {
namespace {

template <typename Table>
void replace_rows(Table& from, Table& to) {
  if (from.rows() != 0) to = std::move(from);
}

template <typename Entry>
void add_entries(const std::vector<uint32_t>& ids, std::vector<Entry>& from, std::vector<Entry>& to,
                 const Entry& otherwise) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= to.size()) to.resize(ids[i] + size_t{1}, otherwise);
    to[ids[i]] = std::move(from[i]);
  }
}

template <typename T>
void append(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void take_piece(TablePiece&& piece, Tables& tables) {
  Tables& from = piece.rows;
  replace_rows(from.kernels, tables.kernels);
  replace_rows(from.copies, tables.copies);
  replace_rows(from.fills, tables.fills);
  replace_rows(from.waits, tables.waits);
  replace_rows(from.allocations, tables.allocations);
  replace_rows(from.graphs, tables.graphs);
  replace_rows(from.api_calls, tables.api_calls);
  replace_rows(from.scopes, tables.scopes);
  replace_rows(from.markers, tables.markers);
  replace_rows(from.counters, tables.counters);
  replace_rows(from.device_metrics, tables.device_metrics);
  replace_rows(from.host_metrics, tables.host_metrics);
  for (auto& [kind, rows] : from.others) tables.others.insert_or_assign(kind, std::move(rows));
  append(from.warp_launches, tables.warp_launches);
  append(from.lanes, tables.lanes);
  append(from.callers, tables.callers);
  // An id of 0 is none.
  for (auto* texts : {&tables.names, &tables.texts, &tables.metrics}) {
    if (texts->empty()) texts->emplace_back();
  }
  const std::string unknown = "?";
  add_entries(piece.ids.names, from.names, tables.names, unknown);
  add_entries(piece.ids.texts, from.texts, tables.texts, unknown);
  add_entries(piece.ids.metrics, from.metrics, tables.metrics, unknown);
  LaunchConfig no_config;
  no_config.name = kNoRow;
  if (tables.configs.empty()) tables.configs.push_back(no_config);
  add_entries(piece.ids.configs, from.configs, tables.configs, no_config);
}

}  // namespace gpufl::analysis
