// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/table_builder.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "analysis/tables/table_append.hpp"
#include "analysis/tables/table_order.hpp"

namespace gpufl::analysis {

using format::Batch;
using format::Kind;
using format::kNoColumn;

namespace {

size_t find_column(const format::KindSpec& kind, std::string_view name) {
  const auto found = std::find_if(kind.columns.begin(), kind.columns.end(),
                                  [&](const auto& column) { return column.name == name; });
  return found != kind.columns.end() ? static_cast<size_t>(found - kind.columns.begin())
                                     : kNoColumn;
}

void add_samples(const Batch& batch, Samples& samples, size_t time, size_t device, size_t index,
                 size_t metric, size_t value) {
  const TableAppend append(batch, samples.rows());
  append.always(samples.time, time, kNoTime);
  append.always(samples.device, device, -1);
  append.always(samples.index, index);
  append.always(samples.metric, metric);
  append.always(samples.value, value);
}

// What a row has that lacks a column which others have: the value that stands for nothing there.
int64_t absent_value(Kind kind, size_t i) {
  namespace column = format::warp_span_column;
  const bool is_number_from_zero =
      kind == Kind::WarpSpan && (i == column::kDevice || i == column::kSm || i == column::kPayload);
  return is_number_from_zero ? -1 : 0;
}

}  // namespace

void TableBuilder::expect(const std::vector<format::WindowFile>& windows) {
  for (const format::WindowFile& window : windows) {
    // No manifest makes it ask for memory out of proportion to what lies there.
    std::error_code error;
    const auto bytes = std::filesystem::file_size(window.path, error);
    if (error) continue;
    forecasts_[static_cast<size_t>(window.channel)].expected += std::min(window.rows, bytes);
  }
}

// As many rows of this kind as there were among those seen so far.
TableAppend TableBuilder::append_to(const Batch& batch, size_t rows_before) const {
  const Forecast& of_channel = forecasts_[static_cast<size_t>(batch.kind_spec().channel)];
  const double share = static_cast<double>(rows_before + batch.rows()) /
                       static_cast<double>(std::max<uint64_t>(of_channel.seen, 1));
  return {batch, rows_before,
          static_cast<size_t>(std::min(share, 1.0) * static_cast<double>(of_channel.expected))};
}

void TableBuilder::on_batch(const Batch& batch, const format::Dictionaries& /*dictionaries*/) {
  if (batch.empty()) return;
  forecasts_[static_cast<size_t>(batch.kind_spec().channel)].seen += batch.rows();
  switch (batch.kind()) {
    case Kind::Kernel: add_kernels(batch); break;
    case Kind::Memcpy: add_copies(batch); break;
    case Kind::Memset: add_fills(batch); break;
    case Kind::Sync: add_waits(batch); break;
    case Kind::Memory: add_allocations(batch); break;
    case Kind::Graph: add_graphs(batch); break;
    case Kind::Api: add_api_calls(batch); break;
    case Kind::Marker: add_markers(batch); break;
    case Kind::Scope: scopes_.add_ended(batch); break;
    case Kind::ScopeOpen: scopes_.add_open(batch); break;
    case Kind::Counter: {
      namespace column = format::counter_column;
      add_samples(batch, tables_.counters, column::kTime, kNoColumn, kNoColumn, column::kName,
                  column::kValue);
      break;
    }
    case Kind::DeviceMetric: {
      namespace column = format::device_metric_column;
      add_samples(batch, tables_.device_metrics, column::kTime, column::kDevice, column::kIndex,
                  column::kMetric, column::kValue);
      break;
    }
    case Kind::HostMetric: {
      namespace column = format::host_metric_column;
      add_samples(batch, tables_.host_metrics, column::kTime, kNoColumn, column::kIndex,
                  column::kMetric, column::kValue);
      break;
    }
    default: add_other(batch); break;
  }
}

void TableBuilder::on_object(Kind kind, const base::Json& line) {
  if (kind == Kind::Dict) dictionaries_.define(line);
  if (kind == Kind::WarpLaunch) tables_.warp_launches.push_back(format::read_warp_launch(line));
}

void TableBuilder::add_work(const Batch& batch, Work& table) {
  const auto column = [&](std::string_view name) { return find_column(batch.kind_spec(), name); };
  const size_t time = format::first_time(batch.kind_spec());
  const TableAppend append = append_to(batch, table.rows());
  append.always(table.duration, column("dur"));
  append.make_room(table.lane);
  append.make_room(table.caller);
  lanes_.append(batch, {column("device"), column("context"), column("stream")}, table.lane);
  callers_.append(batch, {column("thread"), column("scope"), column("inherited")}, table.caller);
  append.times(table.api_start, column("api_start"));
  append(table.api_duration, column("api_dur"), kNoDuration);
  append(table.correlation, column("correlation"));
  append(table.stack, column("stack"));
  append.always(table.start, time, kNoTime);
}

void TableBuilder::add_kernels(const Batch& batch) {
  namespace column = format::kernel_column;
  Kernels& kernels = tables_.kernels;
  const TableAppend append = append_to(batch, kernels.rows());
  add_work(batch, kernels);
  append.make_room(kernels.config);
  dictionaries_.append_configs(batch.column(column::kConfig), kernels.config);
  append.times(kernels.queued, column::kQueued);
  append.times(kernels.submitted, column::kSubmitted);
  append(kernels.graph, column::kGraph);
  append(kernels.graph_node, column::kGraphNode);
  append(kernels.external, column::kExternal);
  append(kernels.node_stack, column::kNodeStack);
}

void TableBuilder::add_copies(const Batch& batch) {
  namespace column = format::memcpy_column;
  Copies& copies = tables_.copies;
  const TableAppend append = append_to(batch, copies.rows());
  add_work(batch, copies);
  append(copies.bytes, column::kBytes);
  append(copies.direction, column::kDirection);
  append(copies.source_kind, column::kSourceKind);
  append(copies.target_kind, column::kTargetKind);
  append(copies.peer_device, column::kPeerDevice, -1);
  append(copies.is_async, column::kAsync);
  append(copies.graph_node, column::kGraphNode);
}

void TableBuilder::add_fills(const Batch& batch) {
  namespace column = format::memset_column;
  Fills& fills = tables_.fills;
  const TableAppend append = append_to(batch, fills.rows());
  add_work(batch, fills);
  append(fills.bytes, column::kBytes);
  append(fills.value, column::kValue);
  append(fills.memory_kind, column::kMemoryKind);
  append(fills.graph_node, column::kGraphNode);
}

void TableBuilder::add_waits(const Batch& batch) {
  namespace column = format::sync_column;
  Waits& waits = tables_.waits;
  const TableAppend append = append_to(batch, waits.rows());
  add_work(batch, waits);
  append(waits.call, column::kCall);
  append(waits.event_id, column::kEventId);
}

void TableBuilder::add_allocations(const Batch& batch) {
  namespace column = format::memory_column;
  Allocations& allocations = tables_.allocations;
  const TableAppend append = append_to(batch, allocations.rows());
  add_work(batch, allocations);
  append(allocations.operation, column::kOperation);
  append(allocations.memory_kind, column::kMemoryKind);
  append(allocations.address, column::kAddress);
  append(allocations.bytes, column::kBytes);
  append(allocations.is_async, column::kAsync);
}

void TableBuilder::add_graphs(const Batch& batch) {
  namespace column = format::graph_column;
  GraphLaunches& graphs = tables_.graphs;
  const TableAppend append = append_to(batch, graphs.rows());
  add_work(batch, graphs);
  append(graphs.graph, column::kGraph);
  append(graphs.nodes, column::kNodes);
}

void TableBuilder::add_api_calls(const Batch& batch) {
  namespace column = format::api_column;
  ApiCalls& calls = tables_.api_calls;
  const TableAppend append = append_to(batch, calls.rows());
  add_work(batch, calls);
  append(calls.name, column::kName);
  append(calls.result, column::kResult);
  append(calls.error, column::kError);
}

void TableBuilder::add_markers(const Batch& batch) {
  namespace column = format::marker_column;
  Markers& markers = tables_.markers;
  const TableAppend append = append_to(batch, markers.rows());
  append.always(markers.duration, column::kDuration);
  append.always(markers.shape, column::kShape);
  append.always(markers.thread, column::kThread);
  append.always(markers.end_thread, column::kEndThread);
  append.always(markers.name, column::kName);
  append.always(markers.domain, column::kDomain);
  append.always(markers.category, column::kCategory);
  append.always(markers.color, column::kColor);
  append(markers.stack, column::kStack);
  append.always(markers.start, column::kStart, kNoTime);
  for (size_t row = 0; row < batch.rows(); ++row) {
    markers.payload.push_back(
        batch.has(column::kPayload)
            ? static_cast<double>(batch.column(column::kPayload)[row]) *
                  std::pow(10.0, static_cast<double>(batch.at(column::kPayloadExponent, row)))
            : std::numeric_limits<double>::quiet_NaN());
  }
}

void TableBuilder::add_other(const Batch& batch) {
  Batch& rows = tables_.others.try_emplace(batch.kind(), batch.kind()).first->second;
  const TableAppend append = append_to(batch, rows.rows());
  for (size_t i = 0; i < batch.kind_spec().columns.size(); ++i) {
    append(rows.mutable_column(i), i, absent_value(batch.kind(), i));
  }
  rows.set_rows(rows.rows() + batch.rows());
}

Tables TableBuilder::finish(int64_t end_ns) {
  tables_.scopes = scopes_.finish(end_ns);
  for (const auto& [device, context, stream] : lanes_.keys()) {
    tables_.lanes.push_back({device, context, stream});
  }
  for (const auto& [thread, scope, inherited] : callers_.keys()) {
    tables_.callers.push_back({thread, scopes_.row_of(scope), inherited != 0});
  }
  sort_tables(tables_);
  dictionaries_.finish(tables_);
  return std::move(tables_);
}

}  // namespace gpufl::analysis
