// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/tables/wait_calls.hpp"
#include "export/cell.hpp"
#include "timeline/session_texts.hpp"

// The tables of a session: which columns each has, what they are called, and what of a row is
// unknown. The one place for it: files that are exported and Python's DataFrames are both made of
// it, by a `Table` that takes the columns one after another:
//
//   number(name, type, column)            whole numbers that every row has
//   number(name, type, column, unknown)   where `unknown` stands for what a row lacks; a column
//   that
//                                         is empty lacks all
//   computed(name, type, read)            read(row) -> int64_t, kUnknownCell: unknown
//   looked_up(name, index, values)        values[index[row]], kUnknownCell: unknown
//   ids(name, column, zero_is_unknown)    64 bits without a sign; the column may be empty
//   reals(name, read)                     read(row) -> double, NaN: unknown
//   texts(name, column, text)             text(column[row]), empty: unknown; the column may be
//   empty texts_by(name, key, text)             text(key(row)), empty: unknown keep(memory) which
//   columns refer to
//
// Columns refer to the SessionTexts, which must outlive the table.
namespace gpufl::exporting {

namespace table_parts {

using analysis::FrameworkLabel;
using analysis::LaunchConfig;
using analysis::Tables;
using analysis::Work;

inline auto name_text(const timeline::SessionTexts& texts) {
  return
      [&texts](uint64_t id) -> const std::string& { return texts.name(static_cast<uint32_t>(id)); };
}
inline auto site_text(const timeline::SessionTexts& texts) {
  return [&texts](uint64_t stack) { return texts.site(static_cast<uint32_t>(stack)); };
}
inline auto path_text(const timeline::SessionTexts& texts) {
  return [&texts](uint64_t path) -> const std::string& {
    return texts.path_text(static_cast<uint32_t>(path));
  };
}

// Of a small table that rows refer to by index.
template <typename List, typename Read>
std::vector<int64_t> values_of(const List& list, Read read) {
  std::vector<int64_t> values;
  values.reserve(list.size());
  for (const auto& entry : list) values.push_back(read(entry));
  return values;
}

template <typename Table>
void add_times(Table& table, const std::vector<int64_t>& start,
               const analysis::NarrowColumn& duration) {
  table.number("start_ns", CellType::Time, start);
  table.number("duration_ns", CellType::Duration, duration);
}

template <typename Table>
void add_place(Table& table, const Tables& tables, const Work& work) {
  const auto add = [&](std::string name, int64_t analysis::Lane::* member) {
    table.looked_up(std::move(name), work.lane,
                    values_of(tables.lanes, [member](const analysis::Lane& lane) {
                      return lane.*member < 0 ? kUnknownCell : lane.*member;
                    }));
  };
  add("device", &analysis::Lane::device);
  add("context", &analysis::Lane::context);
  add("stream", &analysis::Lane::stream);
}

template <typename Table>
void add_caller(Table& table, const timeline::SessionTexts& texts, const Work& work) {
  const Tables& tables = texts.tables();
  table.number("correlation", CellType::Integer, work.correlation, 0);
  table.looked_up("thread", work.caller,
                  values_of(tables.callers, [](const analysis::Caller& caller) {
                    return caller.thread == 0 ? kUnknownCell : caller.thread;
                  }));
  table.texts("scope", work.caller, [&texts, &tables](uint64_t caller) -> const std::string& {
    return texts.path_text(texts.scope_path(tables.callers[caller].scope));
  });
  table.texts("launched_at", work.stack, site_text(texts));
}

template <typename Table>
void add_call_times(Table& table, const Work& work) {
  table.number("api_start_ns", CellType::Time, work.api_start, analysis::kNoTime);
  table.number("api_duration_ns", CellType::Duration, work.api_duration, analysis::kNoDuration);
}

// What all tables of work begin with.
template <typename Table>
void add_work(Table& table, const timeline::SessionTexts& texts, const Work& work) {
  add_times(table, work.start, work.duration);
  add_place(table, texts.tables(), work);
  add_caller(table, texts, work);
  add_call_times(table, work);
}

// What a framework was doing at the calls, found once for all columns.
struct Labels {
  Labels(const timeline::SessionTexts& texts, const Work& work) {
    if (texts.framework().is_empty()) return;
    const size_t rows = work.rows();
    for (auto* column : {&op, &module, &stack, &forward_op, &forward_path}) column->reserve(rows);
    backward.reserve(rows);
    for (size_t row = 0; row < rows; ++row) {
      const FrameworkLabel label = texts.framework().at(work, row);
      op.push_back(label.op);
      module.push_back(label.module);
      stack.push_back(label.stack);
      backward.push_back(label.op == 0 ? kNoOp : label.is_backward ? 1 : 0);
      forward_op.push_back(label.forward_op);
      forward_path.push_back(texts.scope_path(label.forward_scope));
    }
  }
  static constexpr uint8_t kNoOp = 2;
  std::vector<uint32_t> op, module, stack, forward_op, forward_path;  // empty: nobody labelled
  std::vector<uint8_t> backward;
};

template <typename Table>
void add_labels(Table& table, const timeline::SessionTexts& texts, const Work& work) {
  const auto labels = std::make_shared<const Labels>(texts, work);
  table.keep(labels);
  // What has no name has the empty one, which is unknown.
  table.texts("op", labels->op, name_text(texts));
  table.texts("module", labels->module, name_text(texts));
  table.texts("line", labels->stack, site_text(texts));
  table.number("backward", CellType::Integer, labels->backward, Labels::kNoOp);
  table.texts("forward_op", labels->forward_op, name_text(texts));
  table.texts("forward_scope", labels->forward_path, path_text(texts));
}

template <typename Table>
void add_config(Table& table, const Tables& tables) {
  const std::vector<uint32_t>& index = tables.kernels.config;
  const auto add = [&](std::string name, auto read) {
    table.looked_up(std::move(name), index, values_of(tables.configs, read));
  };
  using Size = std::array<int64_t, 3>;
  for (const auto& [what, size] :
       std::initializer_list<std::pair<const char*, Size LaunchConfig::*>>{
           {"grid_", &LaunchConfig::grid}, {"block_", &LaunchConfig::block}}) {
    for (size_t axis = 0; axis < 3; ++axis) {
      add(what + std::string(1, "xyz"[axis]), [size = size, axis](const LaunchConfig& config) {
        // No launch has a size of 0: it is what stands where nothing defines the configuration.
        const int64_t value = (config.*size)[axis];
        return value == 0 ? kUnknownCell : value;
      });
    }
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    add("cluster_" + std::string(1, "xyz"[axis]), [axis](const LaunchConfig& config) {
      return config.cluster ? (*config.cluster)[axis] : kUnknownCell;
    });
  }
  using Fact = std::optional<int64_t> LaunchConfig::*;
  for (const auto& [name, fact] : std::initializer_list<std::pair<const char*, Fact>>{
           {"registers", &LaunchConfig::registers},
           {"shared_static_bytes", &LaunchConfig::shared_static},
           {"shared_dynamic_bytes", &LaunchConfig::shared_dynamic},
           {"local_per_thread_bytes", &LaunchConfig::local_per_thread},
           {"local_total_bytes", &LaunchConfig::local_total}}) {
    add(name, [fact = fact](const LaunchConfig& config) {
      return (config.*fact).value_or(kUnknownCell);
    });
  }
  table.reals("occupancy", [&tables, &index](size_t row) {
    return tables.configs[index[row]].occupancy.value_or(std::numeric_limits<double>::quiet_NaN());
  });
  table.texts("occupancy_limit", index, [&tables](uint64_t config) {
    return timeline::valid_utf8(tables.configs[config].occupancy_limit);
  });
}

}  // namespace table_parts

template <typename Table>
void describe_kernels(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Kernels& rows = texts.tables().kernels;
  table_parts::add_work(table, texts, rows);
  table.texts("name", rows.config, [&texts](uint64_t config) -> const std::string& {
    return texts.kernel(static_cast<uint32_t>(config));
  });
  table_parts::add_config(table, texts.tables());
  table.number("queued_ns", CellType::Time, rows.queued, analysis::kNoTime);
  table.number("submitted_ns", CellType::Time, rows.submitted, analysis::kNoTime);
  table.number("graph", CellType::Integer, rows.graph, 0);
  table.ids("graph_node", rows.graph_node, true);
  table.ids("external", rows.external, true);
  table.texts("captured_at", rows.node_stack, table_parts::site_text(texts));
  table_parts::add_labels(table, texts, rows);
}

template <typename Table>
void describe_copies(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Copies& rows = texts.tables().copies;
  table_parts::add_work(table, texts, rows);
  table.number("bytes", CellType::Integer, rows.bytes, 0);
  table.texts("direction", rows.direction, timeline::copy_direction);
  table.texts("source_memory", rows.source_kind, timeline::memory_kind);
  table.texts("target_memory", rows.target_kind, timeline::memory_kind);
  table.number("peer_device", CellType::Integer, rows.peer_device, -1);
  table.number("async", CellType::Integer, rows.is_async, kUnknownCell);
  table.ids("graph_node", rows.graph_node, true);
  table_parts::add_labels(table, texts, rows);
}

template <typename Table>
void describe_fills(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Fills& rows = texts.tables().fills;
  table_parts::add_work(table, texts, rows);
  table.number("bytes", CellType::Integer, rows.bytes, 0);
  table.number("value", CellType::Integer, rows.value, kUnknownCell);
  table.texts("memory", rows.memory_kind, timeline::memory_kind);
  table.ids("graph_node", rows.graph_node, true);
  table_parts::add_labels(table, texts, rows);
}

template <typename Table>
void describe_waits(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Waits& rows = texts.tables().waits;
  table_parts::add_work(table, texts, rows);
  // The function that was called follows from the stack and the kind of wait.
  constexpr unsigned kCallBits = 8;
  table.texts_by(
      "name",
      [&rows](size_t row) {
        const uint64_t stack = rows.stack.empty() ? 0 : rows.stack[row];
        return stack << kCallBits | (rows.call.empty() ? 0 : rows.call[row]);
      },
      [&texts](uint64_t key) {
        const auto call = static_cast<uint8_t>(key);
        return texts.call(static_cast<uint32_t>(key >> kCallBits), analysis::wait_call_name(call));
      });
  table.number("event", CellType::Integer, rows.event_id, -1);
  table_parts::add_labels(table, texts, rows);
}

template <typename Table>
void describe_graphs(Table& table, const timeline::SessionTexts& texts) {
  const analysis::GraphLaunches& rows = texts.tables().graphs;
  table_parts::add_work(table, texts, rows);
  table.number("graph", CellType::Integer, rows.graph);
  table.number("nodes", CellType::Integer, rows.nodes, 0);
}

template <typename Table>
void describe_allocations(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Allocations& rows = texts.tables().allocations;
  table.number("time_ns", CellType::Time, rows.start);
  table_parts::add_place(table, texts.tables(), rows);
  table_parts::add_caller(table, texts, rows);
  table_parts::add_call_times(table, rows);
  table.texts("operation", rows.operation, timeline::allocation_operation);
  table.texts("memory", rows.memory_kind, timeline::memory_kind);
  table.ids("address", rows.address, false);
  table.number("bytes", CellType::Integer, rows.bytes, kUnknownCell);
  table.number("async", CellType::Integer, rows.is_async, kUnknownCell);
}

template <typename Table>
void describe_api_calls(Table& table, const timeline::SessionTexts& texts) {
  const analysis::ApiCalls& rows = texts.tables().api_calls;
  table_parts::add_times(table, rows.start, rows.duration);
  table_parts::add_place(table, texts.tables(), rows);
  table_parts::add_caller(table, texts, rows);
  table.texts("name", rows.name, table_parts::name_text(texts));
  table.number("result", CellType::Integer, rows.result, kUnknownCell);
  table.texts("error", rows.error, table_parts::name_text(texts));
}

template <typename Table>
void describe_scopes(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Scopes& rows = texts.tables().scopes;
  table.number("id", CellType::Integer, rows.id);
  table.computed("parent", CellType::Integer, [&rows](size_t row) {
    const uint32_t parent = rows.parent[row];
    return parent < rows.id.size() ? rows.id[parent] : kUnknownCell;
  });
  table.number("thread", CellType::Integer, rows.thread, 0);
  table_parts::add_times(table, rows.start, rows.duration);
  table.texts("name", rows.name, table_parts::name_text(texts));
  table.texts("tag", rows.tag, table_parts::name_text(texts));
  table.texts_by(
      "path", [&texts](size_t row) { return texts.scope_path(static_cast<uint32_t>(row)); },
      table_parts::path_text(texts));
  table.number("repeat", CellType::Integer, rows.repeat, 0);
  table.number("warmup", CellType::Integer, rows.warmup, 0);
  table.texts("ending", rows.ending, timeline::scope_ending);
}

template <typename Table>
void describe_markers(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Markers& rows = texts.tables().markers;
  table_parts::add_times(table, rows.start, rows.duration);
  table.texts("shape", rows.shape, timeline::marker_shape);
  table.number("thread", CellType::Integer, rows.thread, 0);
  table.number("end_thread", CellType::Integer, rows.end_thread, 0);
  table.texts("name", rows.name, table_parts::name_text(texts));
  table.texts("domain", rows.domain, table_parts::name_text(texts));
  table.number("category", CellType::Integer, rows.category, 0);
  table.number("color", CellType::Integer, rows.color, 0);
  table.reals("payload", [&rows](size_t row) { return rows.payload[row]; });
}

template <typename Table>
void describe_counters(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Samples& rows = texts.tables().counters;
  table.number("time_ns", CellType::Time, rows.time);
  table.texts("name", rows.metric, table_parts::name_text(texts));
  table.number("value", CellType::Integer, rows.value);
}

template <typename Table>
void describe_metrics(Table& table, const timeline::SessionTexts& texts,
                      const analysis::Samples& rows) {
  table.number("time_ns", CellType::Time, rows.time);
  table.number("device", CellType::Integer, rows.device, -1);
  table.number("index", CellType::Integer, rows.index);
  table.texts("metric", rows.metric, [&texts](uint64_t id) -> const std::string& {
    return texts.metric(static_cast<uint32_t>(id));
  });
  table.number("value", CellType::Integer, rows.value);
}

template <typename Table>
void describe_device_metrics(Table& table, const timeline::SessionTexts& texts) {
  describe_metrics(table, texts, texts.tables().device_metrics);
}

template <typename Table>
void describe_host_metrics(Table& table, const timeline::SessionTexts& texts) {
  describe_metrics(table, texts, texts.tables().host_metrics);
}

}  // namespace gpufl::exporting
