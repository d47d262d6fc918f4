// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/tables/wait_calls.hpp"
#include "export/cell.hpp"
#include "export/described_columns.hpp"
#include "timeline/session_texts.hpp"

// The tables of a session: which columns each has, what they are called, and what of a row is
// unknown. Files that are exported, Python's DataFrames and the reference of these are all made of
// it. Columns of the log follow from format/kinds.def (described_columns.hpp); those that people
// see in another form are written here, and nowhere else. A `Table` takes the columns one after
// another, each with its ColumnHead:
//
//   number(head, column)            whole numbers that every row has
//   number(head, column, unknown)   where `unknown` stands for what a row lacks; a column that is
//                                   empty lacks all
//   computed(head, read)            read(row) -> int64_t, kUnknownCell: unknown
//   looked_up(head, index, values)  values[index[row]], kUnknownCell: unknown
//   ids(head, column, zero_is_unknown)  64 bits without a sign; the column may be empty
//   reals(head, read)               read(row) -> double, NaN: unknown
//   texts(head, column, text)       text(column[row]), empty: unknown; the column may be empty
//   texts_by(head, key, text)       text(key(row)), empty: unknown
//   keep(memory)                    which columns refer to
//   wants(name)                     false: the column may be left out, and what it costs to make it
//   kIsResolved                     of kinds without typed columns, whether ids of scopes are shown
//                                   as paths and decimal fractions as one number, or as in the log
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
  table.number({"start_ns", CellType::Time, "ns", "when it began, since the session's start"},
               start);
  table.number({"duration_ns", CellType::Duration, "ns", "how long it took"}, duration);
}

template <typename Table>
void add_place(Table& table, const Tables& tables, const Work& work) {
  const auto add = [&](const ColumnHead& head, int64_t analysis::Lane::* member) {
    if (!table.wants(head.name)) return;
    table.looked_up(head, work.lane, values_of(tables.lanes, [member](const analysis::Lane& lane) {
                      return lane.*member < 0 ? kUnknownCell : lane.*member;
                    }));
  };
  add({"device", CellType::Integer, "", "number of the GPU"}, &analysis::Lane::device);
  add({"context", CellType::Integer, "", "id of the context"}, &analysis::Lane::context);
  add({"stream", CellType::Integer, "", "id of the stream"}, &analysis::Lane::stream);
}

template <typename Table>
void add_caller(Table& table, const timeline::SessionTexts& texts, const Work& work) {
  const Tables& tables = texts.tables();
  table.number({"correlation", CellType::Integer, "",
                "number that the row shares with the API call behind it"},
               work.correlation, 0);
  if (table.wants("thread")) {
    table.looked_up({"thread", CellType::Integer, "", "system id of the thread that requested it"},
                    work.caller, values_of(tables.callers, [](const analysis::Caller& caller) {
                      return caller.thread == 0 ? kUnknownCell : caller.thread;
                    }));
  }
  table.texts(
      {"scope", CellType::Text, "", "path of the scopes around the call: `train > step / 3`"},
      work.caller, [&texts, &tables](uint64_t caller) -> const std::string& {
        return texts.path_text(texts.scope_path(tables.callers[caller].scope));
      });
  table.texts({"launched_at", CellType::Text, "", "line of the program: `train.py:90 in step()`"},
              work.stack, site_text(texts));
}

template <typename Table>
void add_call_times(Table& table, const Work& work) {
  table.number({"api_start_ns", CellType::Time, "ns",
                "when the API call behind it began; missing if it was not recorded"},
               work.api_start, analysis::kNoTime);
  table.number({"api_duration_ns", CellType::Duration, "ns",
                "how long that call took; missing if its end was not recorded"},
               work.api_duration, analysis::kNoDuration);
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
  table.texts({"op", CellType::Text, "",
               "PyTorch operator that the program called: `aten::linear`; in the backward pass "
               "its node: `AddmmBackward0`"},
              labels->op, name_text(texts));
  table.texts({"module", CellType::Text, "",
               "path of the module: `GPT.blocks.0.attention`; in the backward pass, of the "
               "forward operator"},
              labels->module, name_text(texts));
  table.texts({"line", CellType::Text, "",
               "line of the program that called the operator; in the backward pass, the forward "
               "operator"},
              labels->stack, site_text(texts));
  table.number({"backward", CellType::Integer, "0 or 1", "whether it belongs to the backward pass"},
               labels->backward, Labels::kNoOp);
  table.texts({"forward_op", CellType::Text, "", "in the backward pass: the forward operator"},
              labels->forward_op, name_text(texts));
  table.texts({"forward_scope", CellType::Text, "",
               "in the backward pass: path of the scopes around the forward operator"},
              labels->forward_path, path_text(texts));
}

template <typename Table>
void add_config(Table& table, const Tables& tables) {
  const std::vector<uint32_t>& index = tables.kernels.config;
  const auto add = [&](std::string name, std::string_view unit, std::string_view meaning,
                       auto read) {
    if (!table.wants(name)) return;
    table.looked_up({std::move(name), CellType::Integer, unit, meaning}, index,
                    values_of(tables.configs, read));
  };
  const auto add_axes = [&](std::string_view what, std::string_view unit, std::string_view meaning,
                            auto read) {
    for (size_t axis = 0; axis < 3; ++axis) {
      add(std::string(what) + "_" + "xyz"[axis], unit, axis == 0 ? meaning : "",
          [read, axis](const LaunchConfig& config) {
            // No launch has a size of 0: it is what stands where nothing defines it.
            const int64_t size = read(config)[axis];
            return size == 0 ? kUnknownCell : size;
          });
    }
  };
  using Size = std::array<int64_t, 3>;
  add_axes("grid", "blocks", "size of the grid", [](const LaunchConfig& of) { return of.grid; });
  add_axes("block", "threads", "size of a block", [](const LaunchConfig& of) { return of.block; });
  add_axes("cluster", "blocks", "size of a cluster, if the launch has clusters",
           [](const LaunchConfig& of) { return of.cluster.value_or(Size{}); });
  const auto add_fact = [&](std::string name, std::string_view unit, std::string_view meaning,
                            std::optional<int64_t> LaunchConfig::* fact) {
    add(std::move(name), unit, meaning,
        [fact](const LaunchConfig& config) { return (config.*fact).value_or(kUnknownCell); });
  };
  add_fact("registers", "registers", "registers per thread", &LaunchConfig::registers);
  add_fact("shared_static_bytes", "bytes", "static shared memory per block",
           &LaunchConfig::shared_static);
  add_fact("shared_dynamic_bytes", "bytes", "dynamic shared memory per block",
           &LaunchConfig::shared_dynamic);
  add_fact("local_per_thread_bytes", "bytes", "local memory per thread",
           &LaunchConfig::local_per_thread);
  add_fact("local_total_bytes", "bytes", "local memory that the launch reserved",
           &LaunchConfig::local_total);
  table.reals({"occupancy", CellType::Real, "0 to 1", "theoretical occupancy"}, [&tables, &index](
                                                                                    size_t row) {
    return tables.configs[index[row]].occupancy.value_or(std::numeric_limits<double>::quiet_NaN());
  });
  table.texts({"occupancy_limit", CellType::Text, "",
               "what limits it: `warps`, `registers`, `shared`, `blocks`"},
              index, [&tables](uint64_t config) {
                return timeline::valid_utf8(tables.configs[config].occupancy_limit());
              });
}

}  // namespace table_parts

template <typename Table>
void describe_kernels(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Kernels& rows = texts.tables().kernels;
  table_parts::add_work(table, texts, rows);
  table.texts({"name", CellType::Text, "", "demangled name"}, rows.config,
              [&texts](uint64_t config) -> const std::string& {
                return texts.kernel(static_cast<uint32_t>(config));
              });
  table_parts::add_config(table, texts.tables());
  add_described(table, texts, rows);
  table_parts::add_labels(table, texts, rows);
}

// Copies and fills.
template <auto rows, typename Table>
void describe_transfers(Table& table, const timeline::SessionTexts& texts) {
  table_parts::add_work(table, texts, texts.tables().*rows);
  add_described(table, texts, texts.tables().*rows);
  table_parts::add_labels(table, texts, texts.tables().*rows);
}

template <typename Table>
void describe_waits(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Waits& rows = texts.tables().waits;
  table_parts::add_work(table, texts, rows);
  // The function that was called follows from the stack and the kind of wait.
  constexpr unsigned kCallBits = 8;
  table.texts_by(
      {"name", CellType::Text, "", "function that waited"},
      [&rows](size_t row) {
        const uint64_t stack = rows.stack.empty() ? 0 : rows.stack[row];
        return stack << kCallBits | (rows.wait_kind.empty() ? 0 : rows.wait_kind[row]);
      },
      [&texts](uint64_t key) {
        const auto call = static_cast<uint8_t>(key);
        return texts.call(static_cast<uint32_t>(key >> kCallBits), analysis::wait_call_name(call));
      });
  add_described(table, texts, rows);
  table_parts::add_labels(table, texts, rows);
}

template <typename Table>
void describe_graphs(Table& table, const timeline::SessionTexts& texts) {
  table_parts::add_work(table, texts, texts.tables().graphs);
  add_described(table, texts, texts.tables().graphs);
}

template <typename Table>
void describe_allocations(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Allocations& rows = texts.tables().allocations;
  table.number({"time_ns", CellType::Time, "ns", "when, since the session's start"}, rows.start);
  table_parts::add_place(table, texts.tables(), rows);
  table_parts::add_caller(table, texts, rows);
  table_parts::add_call_times(table, rows);
  add_described(table, texts, rows);
}

template <typename Table>
void describe_api_calls(Table& table, const timeline::SessionTexts& texts) {
  const analysis::ApiCalls& rows = texts.tables().api_calls;
  table_parts::add_times(table, rows.start, rows.duration);
  table_parts::add_place(table, texts.tables(), rows);
  table_parts::add_caller(table, texts, rows);
  add_described(table, texts, rows);
}

template <typename Table>
void describe_scopes(Table& table, const timeline::SessionTexts& texts) {
  namespace column = format::scope_column;
  const analysis::Scopes& rows = texts.tables().scopes;
  add_described(table, texts, rows, column::kId, column::kParent);
  table.computed({"parent", CellType::Integer, "", "`id` of the scope around it"},
                 [&rows](size_t row) {
                   const uint32_t parent = rows.parent[row];
                   return parent < rows.id.size() ? rows.id[parent] : kUnknownCell;
                 });
  add_described(table, texts, rows, column::kThread, column::kName);
  table_parts::add_times(table, rows.start, rows.duration);
  add_described(table, texts, rows, column::kName, column::kStart);
  table.texts_by(
      {"path", CellType::Text, "", "names and tags from the outermost scope to it"},
      [&texts](size_t row) { return texts.scope_path(static_cast<uint32_t>(row)); },
      table_parts::path_text(texts));
  add_described(table, texts, rows, column::kRepeat, column::kEnding);
  table.texts({"ending", CellType::Text, "",
               "`normal`; `open`: it had not ended; `out of order`, `other thread`, `thread exit`, "
               "`shutdown`, `lost`"},
              rows.ending, timeline::scope_ending);
  add_described(table, texts, rows, column::kEnding + 1);
}

template <typename Table>
void describe_markers(Table& table, const timeline::SessionTexts& texts) {
  namespace column = format::marker_column;
  const analysis::Markers& rows = texts.tables().markers;
  table_parts::add_times(table, rows.start, rows.duration);
  add_described(table, texts, rows, column::kShape, column::kDomain);
  add_described(table, texts, rows, column::kName, column::kCategory);
  add_described(table, texts, rows, column::kDomain, column::kName);
  add_described(table, texts, rows, column::kCategory, column::kPayload);
  table.reals({"payload", CellType::Real, "", "number that the program passed"},
              [&rows](size_t row) { return rows.payload[row]; });
  add_described(table, texts, rows, column::kPayload);
}

template <typename Table>
void describe_counters(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Samples& rows = texts.tables().counters;
  table.number({"time_ns", CellType::Time, "ns", "when, since the session's start"}, rows.time);
  table.texts({"name", CellType::Text, "", "name of the counter"}, rows.metric,
              table_parts::name_text(texts));
  table.number({"value", CellType::Integer, "", "its value then"}, rows.value);
}

// Of GPUs or of the host.
template <auto samples, typename Table>
void describe_metrics(Table& table, const timeline::SessionTexts& texts) {
  const analysis::Samples& rows = texts.tables().*samples;
  table.number({"time_ns", CellType::Time, "ns", "when, since the session's start"}, rows.time);
  table.number({"device", CellType::Integer, "", "number of the GPU; always missing for the host"},
               rows.device, -1);
  table.number({"index", CellType::Integer, "",
                "which one, if a device has several: links, fans, processors"},
               rows.index);
  table.texts(
      {"metric", CellType::Text, "", "name, which ends in its unit: docs/reference/metrics.md"},
      rows.metric, [&texts](uint64_t id) -> const std::string& {
        return texts.metric(static_cast<uint32_t>(id));
      });
  table.number({"value", CellType::Integer, "as the metric's name says", "the value"}, rows.value);
}

}  // namespace gpufl::exporting
