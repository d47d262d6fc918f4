// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/table_builder.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "analysis/tables/table_append.hpp"
#include "analysis/tables/table_columns.hpp"
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

// Logs of before say 0 where there is no pool, and of a pool that is empty.
format::Batch with_pool_sizes(const format::Batch& batch) {
  namespace column = format::memory_column;
  format::Batch rows = batch;
  if (!rows.has(column::kPoolBytes)) return rows;
  std::vector<int64_t>& sizes = rows.mutable_column(column::kPoolBytes);
  for (size_t row = 0; row < rows.rows(); ++row) {
    if (sizes[row] == 0 && rows.at(column::kPool, row) == 0) sizes[row] = -1;
  }
  return rows;
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
    case Kind::Kernel: add_work(batch, tables_.kernels); break;
    case Kind::Memcpy: add_work(batch, tables_.copies); break;
    case Kind::Memset: add_work(batch, tables_.fills); break;
    case Kind::Sync: add_work(batch, tables_.waits); break;
    case Kind::Memory: add_work(with_pool_sizes(batch), tables_.allocations); break;
    case Kind::Graph: add_work(batch, tables_.graphs); break;
    case Kind::Api: add_work(batch, tables_.api_calls); break;
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

template <typename Table>
void TableBuilder::add_work(const Batch& batch, Table& table) {
  const TableAppend append = append_to(batch, table.rows());
  add_what_all_work_has(batch, append, table);
  if constexpr (std::is_same_v<Table, Kernels>) {
    append.make_room(table.config);
    dictionaries_.append_configs(batch.column(format::kernel_column::kConfig), table.config);
  }
  each_described_column(table, [&](auto& column, size_t i) { append.described(column, i); });
}

void TableBuilder::add_what_all_work_has(const Batch& batch, const TableAppend& append,
                                         Work& table) {
  const auto column = [&](std::string_view name) { return find_column(batch.kind_spec(), name); };
  append.always(table.duration, column("dur"));
  append.make_room(table.lane);
  append.make_room(table.caller);
  lanes_.append(batch, {column("device"), column("context"), column("stream")}, table.lane);
  callers_.append(batch, {column("thread"), column("scope"), column("inherited")}, table.caller);
  append.times(table.api_start, column("api_start"));
  append(table.api_duration, column("api_dur"), kNoDuration);
  append(table.correlation, column("correlation"));
  append(table.stack, column("stack"));
  append.always(table.start, format::first_time(batch.kind_spec()), kNoTime);
}

void TableBuilder::add_markers(const Batch& batch) {
  namespace column = format::marker_column;
  Markers& markers = tables_.markers;
  const TableAppend append = append_to(batch, markers.rows());
  each_described_column(markers, [&](auto& values, size_t i) {
    // Whether stacks were taken at all shows in there being a column.
    i == column::kStack ? append.described(values, i) : append.always_described(values, i);
  });
  append.always(markers.duration, column::kDuration);
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
    append.described(rows.mutable_column(i), i);
  }
  rows.set_rows(rows.rows() + batch.rows());
}

Tables TableBuilder::finish(int64_t end_ns) {
  tables_.scopes = scopes_.finish(end_ns);
  tell_keys();
  sort_tables(tables_);
  dictionaries_.finish(tables_);
  return std::move(tables_);
}

TablePiece TableBuilder::hand_over(int64_t end_ns) {
  if (is_first_piece_) tables_.scopes = scopes_.finish(end_ns);
  tell_keys();
  if (std::exchange(is_first_piece_, false)) sort_tables(tables_);
  TablePiece piece;
  piece.rows = std::exchange(tables_, {});
  dictionaries_.hand_over(piece);
  return piece;
}

void TableBuilder::tell_keys() {
  for (; lanes_told_ < lanes_.keys().size(); ++lanes_told_) {
    const auto& [device, context, stream] = lanes_.keys()[lanes_told_];
    tables_.lanes.push_back({device, context, stream});
  }
  for (; callers_told_ < callers_.keys().size(); ++callers_told_) {
    const auto& [thread, scope, inherited] = callers_.keys()[callers_told_];
    tables_.callers.push_back({thread, scopes_.row_of(scope), inherited != 0});
  }
}

}  // namespace gpufl::analysis
