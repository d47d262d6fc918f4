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
template <Of<Kernels> Any, typename Visit>
void each_column(Any& table, Visit&& visit) {
  each_work_column(table, visit);
  visit(table.config);
  visit(table.queued);
  visit(table.submitted);
  visit(table.graph);
  visit(table.graph_node);
  visit(table.external);
  visit(table.node_stack);
}
template <Of<Copies> Any, typename Visit>
void each_column(Any& table, Visit&& visit) {
  each_work_column(table, visit);
  visit(table.bytes);
  visit(table.direction);
  visit(table.source_kind);
  visit(table.target_kind);
  visit(table.peer_device);
  visit(table.is_async);
  visit(table.graph_node);
}
template <Of<Fills> Any, typename Visit>
void each_column(Any& table, Visit&& visit) {
  each_work_column(table, visit);
  visit(table.bytes);
  visit(table.value);
  visit(table.memory_kind);
  visit(table.graph_node);
}
template <Of<Waits> Any, typename Visit>
void each_column(Any& table, Visit&& visit) {
  each_work_column(table, visit);
  visit(table.call);
  visit(table.event_id);
}
template <Of<Allocations> Any, typename Visit>
void each_column(Any& table, Visit&& visit) {
  each_work_column(table, visit);
  visit(table.operation);
  visit(table.memory_kind);
  visit(table.address);
  visit(table.bytes);
  visit(table.is_async);
}
template <Of<GraphLaunches> Any, typename Visit>
void each_column(Any& table, Visit&& visit) {
  each_work_column(table, visit);
  visit(table.graph);
  visit(table.nodes);
}
template <Of<ApiCalls> Any, typename Visit>
void each_column(Any& table, Visit&& visit) {
  each_work_column(table, visit);
  visit(table.name);
  visit(table.result);
  visit(table.error);
}
template <Of<Scopes> Any, typename Visit>
void each_column(Any& table, Visit&& visit) {
  visit(table.start);
  visit(table.duration);
  visit(table.parent);
  visit(table.name);
  visit(table.tag);
  visit(table.thread);
  visit(table.repeat);
  visit(table.warmup);
  visit(table.ending);
  visit(table.id);
}
template <Of<Markers> Any, typename Visit>
void each_column(Any& table, Visit&& visit) {
  visit(table.start);
  visit(table.duration);
  visit(table.shape);
  visit(table.thread);
  visit(table.end_thread);
  visit(table.name);
  visit(table.domain);
  visit(table.category);
  visit(table.color);
  visit(table.payload);
  visit(table.stack);
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
// Those of work.

// Bytes of all columns.
size_t memory_of(const Tables& tables);

}  // namespace gpufl::analysis
