// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "analysis/tables/tables.hpp"

// Every column of each table, as one argument after the other of `visit`: what moves rows or counts
// bytes is written once. Pure; any thread.
namespace gpufl::analysis {

// `Table` itself, or constant.
template <typename Any, typename Table>
concept Of = std::same_as<std::remove_const_t<Any>, Table>;

template <typename Any, typename Visit>
void each_work_column(Any& table, Visit&& visit) {
  visit(table.start);
  visit(table.duration);
  visit(table.lane);
  visit(table.caller);
  visit(table.api_start);
  visit(table.api_duration);
  visit(table.correlation);
  visit(table.stack);
}

namespace described {

#define GPUFL_VISIT(Id, name) visit(table.name, std::integral_constant<size_t, column::k##Id>());
#define GPUFL_VISIT_Byte(Id, name) GPUFL_VISIT(Id, name)
#define GPUFL_VISIT_UInt32(Id, name) GPUFL_VISIT(Id, name)
#define GPUFL_VISIT_Int64(Id, name) GPUFL_VISIT(Id, name)
#define GPUFL_VISIT_UInt64(Id, name) GPUFL_VISIT(Id, name)
#define GPUFL_VISIT_Narrow(Id, name) GPUFL_VISIT(Id, name)
#define GPUFL_VISIT_Own(Id, name)
#define GPUFL_VISIT_None(Id, name)

#define GPUFL_KIND(Id, name, ...)                                                 \
  template <std::derived_from<columns::Id> Any, typename Visit>                   \
  void each_column([[maybe_unused]] Any& table, [[maybe_unused]] Visit&& visit) { \
    namespace column = format::name##_column;
#define GPUFL_COLUMN(Id, name, kept, ...) GPUFL_VISIT_##kept(Id, name)
#define GPUFL_END_KIND(Id)           \
  static_cast<void>(column::kCount); \
  }
#include "format/kinds.def"

#undef GPUFL_VISIT
#undef GPUFL_VISIT_Byte
#undef GPUFL_VISIT_UInt32
#undef GPUFL_VISIT_Int64
#undef GPUFL_VISIT_UInt64
#undef GPUFL_VISIT_Narrow
#undef GPUFL_VISIT_Own
#undef GPUFL_VISIT_None

}  // namespace described

// Tables that hold the rows of one kind.
template <typename Any>
concept OfOneKind = requires { std::remove_const_t<Any>::kKind; };

// The columns of a table that follow from kinds.def: visit(column, i), where `i` is a constant, the
// number of the column in its kind.
template <OfOneKind Any, typename Visit>
void each_described_column(Any& table, Visit&& visit) {
  described::each_column(table, visit);
}

template <typename Any, typename Visit>
  requires std::derived_from<std::remove_const_t<Any>, Work>
void each_column(Any& table, Visit&& visit) {
  each_work_column(table, visit);
  if constexpr (Of<Any, Kernels>) visit(table.config);
  each_described_column(table, [&](auto& column, size_t) { visit(column); });
}
template <Of<Scopes> Any, typename Visit>
void each_column(Any& table, Visit&& visit) {
  visit(table.start);
  visit(table.duration);
  visit(table.parent);
  each_described_column(table, [&](auto& column, size_t) { visit(column); });
}
template <Of<Markers> Any, typename Visit>
void each_column(Any& table, Visit&& visit) {
  visit(table.start);
  visit(table.duration);
  visit(table.payload);
  each_described_column(table, [&](auto& column, size_t) { visit(column); });
}
template <Of<Samples> Any, typename Visit>
void each_column(Any& table, Visit&& visit) {
  visit(table.time);
  visit(table.device);
  visit(table.index);
  visit(table.metric);
  visit(table.value);
}

// Every table of `tables` (a Tables), but for `others`.
template <typename AnyTables, typename Visit>
void each_table(AnyTables& tables, Visit&& visit) {
  visit(tables.kernels);
  visit(tables.copies);
  visit(tables.fills);
  visit(tables.waits);
  visit(tables.allocations);
  visit(tables.graphs);
  visit(tables.api_calls);
  visit(tables.scopes);
  visit(tables.markers);
  visit(tables.counters);
  visit(tables.device_metrics);
  visit(tables.host_metrics);
}
// Bytes of all columns.
size_t memory_of(const Tables& tables);

}  // namespace gpufl::analysis
