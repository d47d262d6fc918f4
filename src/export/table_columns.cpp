// SPDX-License-Identifier: Apache-2.0
#include "export/table_columns.hpp"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "format/schema.hpp"

namespace gpufl::exporting {
namespace {

using analysis::kNoRow;
using analysis::kNoTime;
using analysis::LaunchConfig;
using analysis::Tables;
using analysis::Work;

// The columns of one table, added one after another.
class TableBuilder {
 public:
  TableBuilder(std::string name, size_t rows) { table_ = {std::move(name), rows, {}}; }

  template <typename Read>
  void add(std::string name, CellType type, Read read) {
    table_.columns.push_back({std::move(name), type, std::move(read)});
  }
  // A column of the table as it is; `unknown` stands for what a row lacks.
  template <typename Column>
  void number(std::string name, CellType type, const Column& column,
              std::optional<int64_t> unknown = {}) {
    add(std::move(name), type, [&column, unknown](size_t row, CellSink& cell) {
      if (column.empty() || (unknown && int64_t(column[row]) == *unknown)) return cell.unknown();
      cell.integer(static_cast<int64_t>(column[row]));
    });
  }
  template <typename Column>
  void id(std::string name, const Column& column, bool zero_is_unknown = true) {
    add(std::move(name), CellType::Id, [&column, zero_is_unknown](size_t row, CellSink& cell) {
      if (column.empty() || (zero_is_unknown && column[row] == 0)) return cell.unknown();
      cell.id(static_cast<uint64_t>(column[row]));
    });
  }
  // A text that a function makes of the column's value; an empty one is unknown.
  template <typename Column, typename TextOf>
  void text(std::string name, const Column& column, TextOf text_of) {
    add(std::move(name), CellType::Text, [&column, text_of](size_t row, CellSink& cell) {
      if (column.empty()) return cell.unknown();
      const auto& value = text_of(column[row]);
      value.empty() ? cell.unknown() : cell.text(value);
    });
  }
  ExportTable finish() { return std::move(table_); }

 private:
  ExportTable table_;
};

void add_place(TableBuilder& table, const SessionTexts& texts, const Work& work) {
  const Tables& tables = texts.tables();
  const auto add = [&](std::string name, int64_t analysis::Lane::* member) {
    table.add(std::move(name), CellType::Integer,
              [&work, &tables, member](size_t row, CellSink& cell) {
                const int64_t value = work.lane.empty() ? -1 : tables.lanes[work.lane[row]].*member;
                value < 0 ? cell.unknown() : cell.integer(value);
              });
  };
  add("device", &analysis::Lane::device);
  add("context", &analysis::Lane::context);
  add("stream", &analysis::Lane::stream);
}

void add_caller(TableBuilder& table, const SessionTexts& texts, const Work& work) {
  const Tables& tables = texts.tables();
  table.number("correlation", CellType::Integer, work.correlation, 0);
  table.add("thread", CellType::Integer, [&work, &tables](size_t row, CellSink& cell) {
    const int64_t thread = work.caller.empty() ? 0 : tables.callers[work.caller[row]].thread;
    thread == 0 ? cell.unknown() : cell.integer(thread);
  });
  table.add("scope", CellType::Text, [&work, &texts](size_t row, CellSink& cell) {
    if (work.caller.empty()) return cell.unknown();
    const uint32_t path = texts.scope_path(texts.tables().callers[work.caller[row]].scope);
    path == 0 ? cell.unknown() : cell.text(texts.path_text(path));
  });
  table.text("launched_at", work.stack, [&texts](uint32_t stack) { return texts.site(stack); });
}

void add_call_times(TableBuilder& table, const Work& work) {
  table.number("api_start_ns", CellType::Time, work.api_start, kNoTime);
  table.add("api_duration_ns", CellType::Duration, [&work](size_t row, CellSink& cell) {
    const bool is_known =
        !work.api_duration.empty() && (work.api_start.empty() || work.api_start[row] != kNoTime);
    is_known ? cell.integer(work.api_duration[row]) : cell.unknown();
  });
}

// What all tables of work begin with.
TableBuilder work_table(const char* name, const SessionTexts& texts, const Work& work) {
  TableBuilder table(name, work.rows());
  table.number("start_ns", CellType::Time, work.start);
  table.number("duration_ns", CellType::Duration, work.duration);
  add_place(table, texts, work);
  add_caller(table, texts, work);
  add_call_times(table, work);
  return table;
}

// What a framework was doing at the call.
void add_labels(TableBuilder& table, const SessionTexts& texts, const Work& work) {
  const auto add = [&](std::string name, CellType type, auto write) {
    table.add(std::move(name), type, [&texts, &work, write](size_t row, CellSink& cell) {
      if (texts.framework().is_empty()) return cell.unknown();
      write(texts.framework().at(work, row), cell);
    });
  };
  const auto name = [&](std::string column, uint32_t analysis::FrameworkLabel::* id) {
    add(std::move(column), CellType::Text,
        [&texts, id](const analysis::FrameworkLabel& label, CellSink& cell) {
          label.*id == 0 ? cell.unknown() : cell.text(texts.name(label.*id));
        });
  };
  name("op", &analysis::FrameworkLabel::op);
  name("module", &analysis::FrameworkLabel::module);
  add("line", CellType::Text, [&texts](const analysis::FrameworkLabel& label, CellSink& cell) {
    label.stack == 0 ? cell.unknown() : cell.text(texts.site(label.stack));
  });
  add("backward", CellType::Integer, [](const analysis::FrameworkLabel& label, CellSink& cell) {
    label.op == 0 ? cell.unknown() : cell.integer(label.is_backward ? 1 : 0);
  });
  name("forward_op", &analysis::FrameworkLabel::forward_op);
  add("forward_scope", CellType::Text,
      [&texts](const analysis::FrameworkLabel& label, CellSink& cell) {
        const uint32_t path = texts.scope_path(label.forward_scope);
        path == 0 ? cell.unknown() : cell.text(texts.path_text(path));
      });
}

void add_config(TableBuilder& table, const SessionTexts& texts) {
  const Tables& tables = texts.tables();
  const auto of_config = [&](std::string name, CellType type, auto read) {
    table.add(std::move(name), type, [&tables, read](size_t row, CellSink& cell) {
      read(tables.config(tables.kernels.config[row]), cell);
    });
  };
  for (size_t axis = 0; axis < 3; ++axis) {
    of_config(std::string("grid_") + "xyz"[axis], CellType::Integer,
              [axis](const LaunchConfig& config, CellSink& cell) {
                config.blocks() > 0 ? cell.integer(config.grid[axis]) : cell.unknown();
              });
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    of_config(std::string("block_") + "xyz"[axis], CellType::Integer,
              [axis](const LaunchConfig& config, CellSink& cell) {
                config.threads() > 0 ? cell.integer(config.block[axis]) : cell.unknown();
              });
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    of_config(std::string("cluster_") + "xyz"[axis], CellType::Integer,
              [axis](const LaunchConfig& config, CellSink& cell) {
                config.cluster ? cell.integer((*config.cluster)[axis]) : cell.unknown();
              });
  }
  using Fact = std::optional<int64_t> LaunchConfig::*;
  for (const auto& [name, fact] : std::initializer_list<std::pair<const char*, Fact>>{
           {"registers", &LaunchConfig::registers},
           {"shared_static_bytes", &LaunchConfig::shared_static},
           {"shared_dynamic_bytes", &LaunchConfig::shared_dynamic},
           {"local_per_thread_bytes", &LaunchConfig::local_per_thread},
           {"local_total_bytes", &LaunchConfig::local_total}}) {
    of_config(name, CellType::Integer, [fact = fact](const LaunchConfig& config, CellSink& cell) {
      config.*fact ? cell.integer(*(config.*fact)) : cell.unknown();
    });
  }
  of_config("occupancy", CellType::Real, [](const LaunchConfig& config, CellSink& cell) {
    config.occupancy ? cell.real(*config.occupancy) : cell.unknown();
  });
  of_config("occupancy_limit", CellType::Text, [](const LaunchConfig& config, CellSink& cell) {
    config.occupancy_limit.empty() ? cell.unknown() : cell.text(config.occupancy_limit);
  });
}

ExportTable kernels(const SessionTexts& texts) {
  const analysis::Kernels& rows = texts.tables().kernels;
  TableBuilder table = work_table("kernels", texts, rows);
  table.text("name", rows.config,
             [&texts](uint32_t config) -> const std::string& { return texts.kernel(config); });
  add_config(table, texts);
  table.number("queued_ns", CellType::Time, rows.queued, kNoTime);
  table.number("submitted_ns", CellType::Time, rows.submitted, kNoTime);
  table.number("graph", CellType::Integer, rows.graph, 0);
  table.id("graph_node", rows.graph_node);
  table.id("external", rows.external);
  table.text("captured_at", rows.node_stack, [&texts](uint32_t id) { return texts.site(id); });
  add_labels(table, texts, rows);
  return table.finish();
}

ExportTable copies(const SessionTexts& texts) {
  const analysis::Copies& rows = texts.tables().copies;
  TableBuilder table = work_table("memcpy", texts, rows);
  table.number("bytes", CellType::Integer, rows.bytes, 0);
  table.text("direction", rows.direction, copy_direction);
  table.text("source_memory", rows.source_kind, memory_kind);
  table.text("target_memory", rows.target_kind, memory_kind);
  table.number("peer_device", CellType::Integer, rows.peer_device, -1);
  table.number("async", CellType::Integer, rows.is_async);
  table.id("graph_node", rows.graph_node);
  add_labels(table, texts, rows);
  return table.finish();
}

ExportTable fills(const SessionTexts& texts) {
  const analysis::Fills& rows = texts.tables().fills;
  TableBuilder table = work_table("memset", texts, rows);
  table.number("bytes", CellType::Integer, rows.bytes, 0);
  table.number("value", CellType::Integer, rows.value);
  table.text("memory", rows.memory_kind, memory_kind);
  table.id("graph_node", rows.graph_node);
  add_labels(table, texts, rows);
  return table.finish();
}

ExportTable waits(const SessionTexts& texts) {
  const analysis::Waits& rows = texts.tables().waits;
  TableBuilder table = work_table("sync", texts, rows);
  table.add("name", CellType::Text,
            [&texts](size_t row, CellSink& cell) { cell.text(texts.wait(row)); });
  table.number("event", CellType::Integer, rows.event_id, -1);
  add_labels(table, texts, rows);
  return table.finish();
}

ExportTable allocations(const SessionTexts& texts) {
  const analysis::Allocations& rows = texts.tables().allocations;
  TableBuilder table("memory", rows.rows());
  table.number("time_ns", CellType::Time, rows.start);
  add_place(table, texts, rows);
  add_caller(table, texts, rows);
  add_call_times(table, rows);
  table.text("operation", rows.operation, allocation_operation);
  table.text("memory", rows.memory_kind, memory_kind);
  table.id("address", rows.address, false);
  table.number("bytes", CellType::Integer, rows.bytes);
  table.number("async", CellType::Integer, rows.is_async);
  return table.finish();
}

ExportTable graphs(const SessionTexts& texts) {
  const analysis::GraphLaunches& rows = texts.tables().graphs;
  TableBuilder table = work_table("graphs", texts, rows);
  table.number("graph", CellType::Integer, rows.graph);
  table.number("nodes", CellType::Integer, rows.nodes, 0);
  return table.finish();
}

ExportTable api_calls(const SessionTexts& texts) {
  const analysis::ApiCalls& rows = texts.tables().api_calls;
  const auto name = [&texts](uint32_t id) -> const std::string& { return texts.name(id); };
  TableBuilder table("api", rows.rows());
  table.number("start_ns", CellType::Time, rows.start);
  table.number("duration_ns", CellType::Duration, rows.duration);
  add_place(table, texts, rows);
  add_caller(table, texts, rows);
  table.text("name", rows.name, name);
  table.number("result", CellType::Integer, rows.result);
  table.text("error", rows.error, name);
  return table.finish();
}

ExportTable scopes(const SessionTexts& texts) {
  const analysis::Scopes& rows = texts.tables().scopes;
  const auto name = [&texts](uint32_t id) -> const std::string& { return texts.name(id); };
  TableBuilder table("scopes", rows.rows());
  table.number("id", CellType::Integer, rows.id);
  table.add("parent", CellType::Integer, [&rows](size_t row, CellSink& cell) {
    const uint32_t parent = rows.parent.empty() ? kNoRow : rows.parent[row];
    parent >= rows.id.size() ? cell.unknown() : cell.integer(rows.id[parent]);
  });
  table.number("thread", CellType::Integer, rows.thread, 0);
  table.number("start_ns", CellType::Time, rows.start);
  table.number("duration_ns", CellType::Duration, rows.duration);
  table.text("name", rows.name, name);
  table.text("tag", rows.tag, name);
  table.add("path", CellType::Text, [&texts](size_t row, CellSink& cell) {
    cell.text(texts.path_text(texts.scope_path(static_cast<uint32_t>(row))));
  });
  table.number("repeat", CellType::Integer, rows.repeat, 0);
  table.number("warmup", CellType::Integer, rows.warmup, 0);
  table.text("ending", rows.ending, scope_ending);
  return table.finish();
}

ExportTable markers(const SessionTexts& texts) {
  const analysis::Markers& rows = texts.tables().markers;
  const auto name = [&texts](uint32_t id) -> const std::string& { return texts.name(id); };
  TableBuilder table("markers", rows.rows());
  table.number("start_ns", CellType::Time, rows.start);
  table.number("duration_ns", CellType::Duration, rows.duration);
  table.text("shape", rows.shape, marker_shape);
  table.number("thread", CellType::Integer, rows.thread, 0);
  table.number("end_thread", CellType::Integer, rows.end_thread, 0);
  table.text("name", rows.name, name);
  table.text("domain", rows.domain, name);
  table.number("category", CellType::Integer, rows.category, 0);
  table.number("color", CellType::Integer, rows.color, 0);
  table.add("payload", CellType::Real, [&rows](size_t row, CellSink& cell) {
    const bool is_known = !rows.payload.empty() && std::isfinite(rows.payload[row]);
    is_known ? cell.real(rows.payload[row]) : cell.unknown();
  });
  return table.finish();
}

ExportTable samples(const char* name, const SessionTexts& texts, const analysis::Samples& rows,
                    bool is_counter) {
  TableBuilder table(name, rows.rows());
  table.number("time_ns", CellType::Time, rows.time);
  if (is_counter) {
    table.text("name", rows.metric,
               [&texts](uint32_t id) -> const std::string& { return texts.name(id); });
  } else {
    table.number("device", CellType::Integer, rows.device, -1);
    table.number("index", CellType::Integer, rows.index);
    table.text("metric", rows.metric,
               [&texts](uint32_t id) -> const std::string& { return texts.metric(id); });
  }
  table.number("value", CellType::Integer, rows.value);
  return table.finish();
}

// Kinds that have no table of their own: as the format describes them.
ExportTable other(const SessionTexts& texts, const format::Batch& batch) {
  TableBuilder table(std::string(batch.kind_spec().name), batch.rows());
  for (size_t i = 0; i < batch.kind_spec().columns.size(); ++i) {
    const format::ColumnSpec& spec = batch.kind_spec().columns[i];
    if (!batch.has(i)) continue;
    const std::vector<int64_t>& column = batch.column(i);
    std::string name(spec.name);
    switch (spec.type) {
      case format::ColumnType::Time: table.number(name + "_ns", CellType::Time, column); break;
      case format::ColumnType::Duration:
        table.number("duration_ns", CellType::Duration, column);
        break;
      case format::ColumnType::Id64: table.id(name, column, false); break;
      case format::ColumnType::Integer: table.number(name, CellType::Integer, column); break;
      case format::ColumnType::DictId:
        table.text(name, column, [&texts, dict = spec.dict](int64_t id) {
          return texts.dictionary_text(dict, static_cast<uint32_t>(id));
        });
        break;
    }
  }
  return table.finish();
}

}  // namespace

std::string_view to_string(CellType type) {
  constexpr std::array<std::string_view, 6> kNames = {"time_ns", "duration_ns", "integer",
                                                      "id64",    "number",      "text"};
  return kNames[static_cast<size_t>(type)];
}

std::vector<ExportTable> export_tables(const SessionTexts& texts) {
  const Tables& from = texts.tables();
  std::vector<ExportTable> tables = {kernels(texts),
                                     copies(texts),
                                     fills(texts),
                                     waits(texts),
                                     graphs(texts),
                                     allocations(texts),
                                     api_calls(texts),
                                     scopes(texts),
                                     markers(texts),
                                     samples("counters", texts, from.counters, true),
                                     samples("device_metrics", texts, from.device_metrics, false),
                                     samples("host_metrics", texts, from.host_metrics, false)};
  for (const auto& [kind, batch] : from.others) tables.push_back(other(texts, batch));
  return tables;
}

uint64_t table_rows(const Tables& tables) {
  uint64_t rows = tables.kernels.rows() + tables.copies.rows() + tables.fills.rows() +
                  tables.waits.rows() + tables.graphs.rows() + tables.allocations.rows() +
                  tables.api_calls.rows() + tables.scopes.rows() + tables.markers.rows() +
                  tables.counters.rows() + tables.device_metrics.rows() +
                  tables.host_metrics.rows();
  for (const auto& [kind, batch] : tables.others) rows += batch.rows();
  return rows;
}

}  // namespace gpufl::exporting
