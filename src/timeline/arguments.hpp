// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/tables/table_append.hpp"
#include "analysis/tables/table_columns.hpp"
#include "format/kind_columns.hpp"
#include "timeline/session_texts.hpp"
#include "timeline/timeline.hpp"

// What a viewer shows of a slice besides its name and times, the same in every format. A sink has
// integer(Arg, int64_t), id(Arg, uint64_t), real(Arg, double), text(Arg, string_view), and
// name(Arg, uint32_t), path(Arg, uint32_t) and site(Arg, uint32_t) for what SessionTexts knows by
// number. Facts that the log does not have are not mentioned.
namespace gpufl::timeline {

enum class Arg : uint16_t {
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
  Op,
  Module,
  Line,
  ForwardOp,
  Stream,
  Result,
  Error,
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
  FirstColumn,  // of those that are columns of the log
};

// How many columns kinds before this one have.
constexpr size_t columns_before(format::Kind kind) {
  constexpr size_t kCounts[] = {
#define GPUFL_OBJECT(Id, ...) 0,
#define GPUFL_KIND(Id, name, ...) format::name##_column::kCount,
#include "format/kinds.def"
  };
  size_t before = 0;
  for (size_t i = 0; i < static_cast<size_t>(kind); ++i) before += kCounts[i];
  return before;
}
// A column that is told as kinds.def describes it.
constexpr Arg column_arg(format::Kind kind, size_t column) {
  return static_cast<Arg>(static_cast<size_t>(Arg::FirstColumn) + columns_before(kind) + column);
}
inline constexpr size_t kArgCount =
    static_cast<size_t>(column_arg(static_cast<format::Kind>(format::kKindCount), 0));

std::string_view to_string(Arg arg);

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

// A value of a column that follows from kinds.def.
template <format::Kind kind, size_t column, typename Value, typename Sink>
void described_value(Value value, Sink& sink) {
  constexpr const format::ColumnSpec& kSpec = format::kColumnsOf<kind>[column];
  constexpr Arg kArg = column_arg(kind, column);
  if (kSpec.may_lack() && value == analysis::narrowed<Value>(kSpec.absent)) return;
  if constexpr (!kSpec.words.empty()) {
    if (const auto word = format::word_of(kSpec.words, value); !word.empty()) sink.text(kArg, word);
  } else if constexpr (kSpec.dict == format::Dict::Stack) {
    sink.site(kArg, value);
  } else if constexpr (kSpec.dict == format::Dict::Name) {
    sink.name(kArg, value);
  } else if constexpr (kSpec.type == format::ColumnType::Id64) {
    sink.id(kArg, static_cast<uint64_t>(value));
  } else {
    static_assert(kSpec.dict == format::Dict::None);
    sink.integer(kArg, value);
  }
}

// All of a row.
template <typename Table, typename Sink>
void described(const Table& table, size_t row, Sink& sink) {
  analysis::each_described_column(table, [&](const auto& column, auto i) {
    if constexpr (format::kColumnsOf<Table::kKind>[i].shown != format::Shown::Nothing) {
      if (!column.empty()) described_value<Table::kKind, i>(column[row], sink);
    }
  });
}

template <typename Table, typename Sink>
void work_on_gpu(const SessionTexts& texts, const Table& table, size_t row, Sink& sink) {
  work(texts, table, row, sink);
  described(table, row, sink);
}

template <typename Sink>
void wait(const SessionTexts& texts, size_t row, Sink& sink) {
  const analysis::Waits& waits = texts.tables().waits;
  work(texts, waits, row, sink);
  if (!waits.lane.empty()) {
    const analysis::Lane& lane = texts.tables().lanes[waits.lane[row]];
    if (lane.stream >= 0) sink.integer(Arg::Stream, lane.stream);
  }
  described(waits, row, sink);
}

template <typename Sink>
void api_call(const SessionTexts& texts, size_t row, Sink& sink) {
  const analysis::ApiCalls& calls = texts.tables().api_calls;
  if (calls.has_failed(row)) sink.integer(Arg::Result, calls.result[row]);
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
  if (const int64_t error = rows.at(column::kError, row, -1); error >= 0) {
    sink.integer(Arg::ErrorNs, error);
  }
  const auto ending = static_cast<format::WarpEnding>(rows.at(column::kEnding, row));
  if (ending == format::WarpEnding::NoEnd || ending == format::WarpEnding::NoBegin) {
    sink.text(Arg::Ending, format::word_of(format::kWarpEndingWords, static_cast<int64_t>(ending)));
  }
}

template <typename Sink>
void coverage(const SessionTexts& texts, size_t row, Sink& sink) {
  namespace column = format::coverage_column;
  constexpr format::Kind kKind = format::Kind::Coverage;
  const format::Batch& rows = texts.tables().others.at(kKind);
  const auto value = [&](size_t i) { return rows.at(i, row, rows.kind_spec().columns[i].absent); };
  described_value<kKind, column::kWhy>(value(column::kWhy), sink);
  described_value<kKind, column::kEnding>(value(column::kEnding), sink);
  described_value<kKind, column::kCost>(value(column::kCost), sink);
  described_value<kKind, column::kMeasure>(value(column::kMeasure), sink);
  described_value<kKind, column::kDevice>(value(column::kDevice), sink);
  described_value<kKind, column::kSamples>(value(column::kSamples), sink);
  described_value<kKind, column::kDropped>(value(column::kDropped), sink);
  described_value<kKind, column::kLaunches>(value(column::kLaunches), sink);
}

}  // namespace arguments

// Those of one row; a kernel's configuration is not among them.
template <typename Sink>
void row_arguments(const SessionTexts& texts, const Slice& slice, Sink& sink) {
  const analysis::Tables& tables = texts.tables();
  switch (slice.kind) {
    case SliceKind::Scope: return arguments::scope(texts, slice.row, sink);
    case SliceKind::Range:
    case SliceKind::Mark: return arguments::marker(texts, slice.row, sink);
    case SliceKind::ApiCall: return arguments::api_call(texts, slice.row, sink);
    case SliceKind::AllocationCall:
      return arguments::described(tables.allocations, slice.row, sink);
    case SliceKind::Wait: return arguments::wait(texts, slice.row, sink);
    case SliceKind::Kernel: return arguments::work_on_gpu(texts, tables.kernels, slice.row, sink);
    case SliceKind::Copy: return arguments::work_on_gpu(texts, tables.copies, slice.row, sink);
    case SliceKind::Fill: return arguments::work_on_gpu(texts, tables.fills, slice.row, sink);
    case SliceKind::Graph: return arguments::work_on_gpu(texts, tables.graphs, slice.row, sink);
    case SliceKind::WarpSpan:
    case SliceKind::WarpInstant: return arguments::warp_span(texts, slice.row, sink);
    case SliceKind::Coverage: return arguments::coverage(texts, slice.row, sink);
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
