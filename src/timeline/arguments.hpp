// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "timeline/session_texts.hpp"
#include "timeline/timeline.hpp"

// What a viewer shows of a slice besides its name and times, the same in every format. A sink has
// integer(Arg, int64_t), id(Arg, uint64_t), real(Arg, double), text(Arg, string_view), and
// name(Arg, uint32_t), path(Arg, uint32_t) and site(Arg, uint32_t) for what SessionTexts knows by
// number. Facts that the log does not have are not mentioned.
namespace gpufl::timeline {

enum class Arg : uint8_t {
  Grid,
  Block,
  Cluster,
  Registers,
  SharedStatic,
  SharedDynamic,
  LocalPerThread,
  Occupancy,
  Correlation,
  Scope,
  LaunchedAt,
  CapturedAt,
  Op,
  Module,
  Line,
  ForwardOp,
  Graph,
  GraphNode,
  Nodes,
  External,
  Queued,
  Submitted,
  Bytes,
  SourceMemory,
  TargetMemory,
  Memory,
  PeerDevice,
  IsAsync,
  Value,
  Stream,
  Event,
  Result,
  Error,
  Operation,
  Address,
  Domain,
  Category,
  Color,
  Payload,
  Repeat,
  Warmup,
  Ending,
  Sm,
  Group,
  Stage,
  Phase,
  Launch,
  ErrorNs,
};
inline constexpr size_t kArgCount = static_cast<size_t>(Arg::ErrorNs) + 1;

constexpr std::string_view to_string(Arg arg) {
  constexpr std::array<std::string_view, kArgCount> kNames = {"grid",
                                                              "block",
                                                              "cluster",
                                                              "registers",
                                                              "shared_static",
                                                              "shared_dynamic",
                                                              "local_per_thread",
                                                              "occupancy",
                                                              "correlation",
                                                              "scope",
                                                              "launched_at",
                                                              "captured_at",
                                                              "op",
                                                              "module",
                                                              "line",
                                                              "forward_op",
                                                              "graph",
                                                              "graph_node",
                                                              "nodes",
                                                              "external",
                                                              "queued_ns",
                                                              "submitted_ns",
                                                              "bytes",
                                                              "source_memory",
                                                              "target_memory",
                                                              "memory",
                                                              "peer_device",
                                                              "async",
                                                              "value",
                                                              "stream",
                                                              "event",
                                                              "result",
                                                              "error",
                                                              "operation",
                                                              "address",
                                                              "domain",
                                                              "category",
                                                              "color",
                                                              "payload",
                                                              "repeat",
                                                              "warmup",
                                                              "ending",
                                                              "sm",
                                                              "group",
                                                              "stage",
                                                              "phase",
                                                              "launch",
                                                              "error_ns"};
  return kNames[static_cast<size_t>(arg)];
}

inline std::string dimensions(const std::array<int64_t, 3>& of) {
  return std::to_string(of[0]) + "x" + std::to_string(of[1]) + "x" + std::to_string(of[2]);
}

// "56.25%, limited by registers".
std::string occupancy_text(const analysis::LaunchConfig& config);

// Of all kernels of one launch configuration.
template <typename Sink>
void config_arguments(const analysis::LaunchConfig& config, Sink& sink) {
  if (config.blocks() > 0) sink.text(Arg::Grid, dimensions(config.grid));
  if (config.threads() > 0) sink.text(Arg::Block, dimensions(config.block));
  if (config.cluster) sink.text(Arg::Cluster, dimensions(*config.cluster));
  if (config.registers) sink.integer(Arg::Registers, *config.registers);
  if (config.shared_static) sink.integer(Arg::SharedStatic, *config.shared_static);
  if (config.shared_dynamic) sink.integer(Arg::SharedDynamic, *config.shared_dynamic);
  if (config.local_per_thread) sink.integer(Arg::LocalPerThread, *config.local_per_thread);
  if (config.occupancy) sink.text(Arg::Occupancy, occupancy_text(config));
}

namespace arguments {

template <typename Column, typename Write>
void where_known(const Column& column, size_t row, int64_t unknown, Write write) {
  if (!column.empty() && int64_t{column[row]} != unknown) write(column[row]);
}

// What a framework was doing at the call, as the columns of tables tell it.
template <typename Sink>
void labels(const SessionTexts& texts, const analysis::Work& work, size_t row, Sink& sink) {
  if (texts.framework().is_empty()) return;
  const analysis::FrameworkLabel label = texts.framework().at(work, row);
  if (label.op != 0) sink.name(Arg::Op, label.op);
  if (label.module != 0) sink.name(Arg::Module, label.module);
  if (label.stack != 0) sink.site(Arg::Line, label.stack);
  if (label.forward_op != 0) sink.name(Arg::ForwardOp, label.forward_op);
}

template <typename Sink>
void work(const SessionTexts& texts, const analysis::Work& work, size_t row, Sink& sink) {
  where_known(work.correlation, row, 0, [&](int64_t v) { sink.integer(Arg::Correlation, v); });
  if (!work.caller.empty()) {
    const uint32_t scope = texts.tables().callers[work.caller[row]].scope;
    if (const uint32_t path = texts.scope_path(scope); path != 0) sink.path(Arg::Scope, path);
    labels(texts, work, row, sink);
  }
  where_known(work.stack, row, 0, [&](uint32_t v) { sink.site(Arg::LaunchedAt, v); });
}

template <typename Sink>
void memory(Arg arg, const std::vector<uint8_t>& kinds, size_t row, Sink& sink) {
  if (kinds.empty()) return;
  if (const auto text = memory_kind(kinds[row]); !text.empty()) sink.text(arg, text);
}

template <typename Sink>
void kernel(const SessionTexts& texts, size_t row, Sink& sink) {
  const analysis::Kernels& kernels = texts.tables().kernels;
  work(texts, kernels, row, sink);
  where_known(kernels.graph, row, 0, [&](int64_t v) { sink.integer(Arg::Graph, v); });
  where_known(kernels.graph_node, row, 0,
              [&](int64_t v) { sink.id(Arg::GraphNode, static_cast<uint64_t>(v)); });
  where_known(kernels.external, row, 0,
              [&](int64_t v) { sink.id(Arg::External, static_cast<uint64_t>(v)); });
  where_known(kernels.node_stack, row, 0, [&](uint32_t v) { sink.site(Arg::CapturedAt, v); });
  where_known(kernels.queued, row, analysis::kNoTime,
              [&](int64_t v) { sink.integer(Arg::Queued, v); });
  where_known(kernels.submitted, row, analysis::kNoTime,
              [&](int64_t v) { sink.integer(Arg::Submitted, v); });
}

template <typename Sink>
void copy(const SessionTexts& texts, size_t row, Sink& sink) {
  const analysis::Copies& copies = texts.tables().copies;
  work(texts, copies, row, sink);
  where_known(copies.bytes, row, 0, [&](int64_t v) { sink.integer(Arg::Bytes, v); });
  memory(Arg::SourceMemory, copies.source_kind, row, sink);
  memory(Arg::TargetMemory, copies.target_kind, row, sink);
  where_known(copies.peer_device, row, -1, [&](int64_t v) { sink.integer(Arg::PeerDevice, v); });
  if (!copies.is_async.empty()) sink.integer(Arg::IsAsync, copies.is_async[row]);
  where_known(copies.graph_node, row, 0,
              [&](int64_t v) { sink.id(Arg::GraphNode, static_cast<uint64_t>(v)); });
}

template <typename Sink>
void fill(const SessionTexts& texts, size_t row, Sink& sink) {
  const analysis::Fills& fills = texts.tables().fills;
  work(texts, fills, row, sink);
  where_known(fills.bytes, row, 0, [&](int64_t v) { sink.integer(Arg::Bytes, v); });
  if (!fills.value.empty()) sink.integer(Arg::Value, fills.value[row]);
  memory(Arg::Memory, fills.memory_kind, row, sink);
  where_known(fills.graph_node, row, 0,
              [&](int64_t v) { sink.id(Arg::GraphNode, static_cast<uint64_t>(v)); });
}

template <typename Sink>
void graph(const SessionTexts& texts, size_t row, Sink& sink) {
  const analysis::GraphLaunches& graphs = texts.tables().graphs;
  work(texts, graphs, row, sink);
  sink.integer(Arg::Graph, graphs.graph[row]);
  where_known(graphs.nodes, row, 0, [&](int64_t v) { sink.integer(Arg::Nodes, v); });
}

template <typename Sink>
void wait(const SessionTexts& texts, size_t row, Sink& sink) {
  const analysis::Waits& waits = texts.tables().waits;
  work(texts, waits, row, sink);
  if (!waits.lane.empty()) {
    const analysis::Lane& lane = texts.tables().lanes[waits.lane[row]];
    if (lane.stream >= 0) sink.integer(Arg::Stream, lane.stream);
  }
  where_known(waits.event_id, row, -1, [&](int64_t v) { sink.integer(Arg::Event, v); });
}

template <typename Sink>
void allocation(const SessionTexts& texts, size_t row, Sink& sink) {
  const analysis::Allocations& rows = texts.tables().allocations;
  sink.text(Arg::Operation, allocation_operation(rows.operation[row]));
  where_known(rows.bytes, row, 0, [&](int64_t v) { sink.integer(Arg::Bytes, v); });
  if (!rows.address.empty()) sink.id(Arg::Address, rows.address[row]);
  memory(Arg::Memory, rows.memory_kind, row, sink);
}

template <typename Sink>
void api_call(const SessionTexts& texts, size_t row, Sink& sink) {
  const analysis::ApiCalls& calls = texts.tables().api_calls;
  where_known(calls.result, row, 0, [&](int64_t v) { sink.integer(Arg::Result, v); });
  where_known(calls.error, row, 0, [&](uint32_t v) { sink.text(Arg::Error, texts.name(v)); });
  where_known(calls.stack, row, 0, [&](uint32_t v) { sink.site(Arg::LaunchedAt, v); });
}

template <typename Sink>
void marker(const SessionTexts& texts, size_t row, Sink& sink) {
  const analysis::Markers& markers = texts.tables().markers;
  where_known(markers.domain, row, 0, [&](uint32_t v) { sink.text(Arg::Domain, texts.name(v)); });
  where_known(markers.category, row, 0, [&](int64_t v) { sink.integer(Arg::Category, v); });
  where_known(markers.color, row, 0, [&](int64_t v) { sink.integer(Arg::Color, v); });
  if (!markers.payload.empty() && std::isfinite(markers.payload[row])) {
    sink.real(Arg::Payload, markers.payload[row]);
  }
}

template <typename Sink>
void scope(const SessionTexts& texts, size_t row, Sink& sink) {
  const analysis::Scopes& scopes = texts.tables().scopes;
  where_known(scopes.repeat, row, 0, [&](int64_t v) { sink.integer(Arg::Repeat, v); });
  where_known(scopes.warmup, row, 0, [&](int64_t v) { sink.integer(Arg::Warmup, v); });
  where_known(scopes.ending, row, 0, [&](uint8_t v) { sink.text(Arg::Ending, scope_ending(v)); });
}

template <typename Sink>
void warp_span(const SessionTexts& texts, size_t row, Sink& sink) {
  namespace column = format::warp_span_column;
  const format::Batch& rows = texts.tables().others.at(format::Kind::WarpSpan);
  sink.integer(Arg::Launch, rows.at(column::kLaunch, row));
  sink.integer(Arg::Block, rows.at(column::kBlock, row));
  sink.integer(Arg::Group, rows.at(column::kGroup, row));
  if (const int64_t sm = rows.at(column::kSm, row, -1); sm >= 0) sink.integer(Arg::Sm, sm);
  if (const int64_t payload = rows.at(column::kPayload, row, -1); payload >= 0) {
    sink.integer(Arg::Payload, payload);
    sink.integer(Arg::Stage, payload & 0xffff);
    sink.integer(Arg::Phase, payload >> 16);
  }
  if (rows.has(column::kError)) sink.integer(Arg::ErrorNs, rows.at(column::kError, row));
  if (const auto text = warp_ending(rows.at(column::kEnding, row)); !text.empty()) {
    sink.text(Arg::Ending, text);
  }
}

}  // namespace arguments

// Those of one row; a kernel's configuration is not among them.
template <typename Sink>
void row_arguments(const SessionTexts& texts, const Slice& slice, Sink& sink) {
  switch (slice.kind) {
    case SliceKind::Scope: return arguments::scope(texts, slice.row, sink);
    case SliceKind::Range:
    case SliceKind::Mark: return arguments::marker(texts, slice.row, sink);
    case SliceKind::ApiCall: return arguments::api_call(texts, slice.row, sink);
    case SliceKind::AllocationCall: return arguments::allocation(texts, slice.row, sink);
    case SliceKind::Wait: return arguments::wait(texts, slice.row, sink);
    case SliceKind::Kernel: return arguments::kernel(texts, slice.row, sink);
    case SliceKind::Copy: return arguments::copy(texts, slice.row, sink);
    case SliceKind::Fill: return arguments::fill(texts, slice.row, sink);
    case SliceKind::Graph: return arguments::graph(texts, slice.row, sink);
    case SliceKind::WarpSpan:
    case SliceKind::WarpInstant: return arguments::warp_span(texts, slice.row, sink);
    case SliceKind::KernelCall:
    case SliceKind::CopyCall:
    case SliceKind::FillCall:
    case SliceKind::GraphCall: return;  // their work has them
  }
}

// "sync", "kernel", ...: what viewers colour and filter by.
std::string_view category_of(SliceKind kind);
// The slice of a group is called what its most telling member is.
std::string slice_name(const SessionTexts& texts, std::span<const Slice> group);

}  // namespace gpufl::timeline
