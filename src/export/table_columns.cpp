// SPDX-License-Identifier: Apache-2.0
#include "export/table_columns.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "export/session_tables.hpp"
#include "format/schema.hpp"

namespace gpufl::exporting {
namespace {

// The columns of one table, as functions that read a cell: a Table of export/session_tables.hpp.
class TableBuilder {
 public:
  TableBuilder(std::string name, size_t rows) { table_ = {std::move(name), rows, {}, {}}; }

  template <typename Column>
  void number(std::string name, CellType type, const Column& column) {
    add(std::move(name), type,
        [&column](size_t row, CellSink& cell) { cell.integer(static_cast<int64_t>(column[row])); });
  }
  template <typename Column>
  void number(std::string name, CellType type, const Column& column, int64_t unknown) {
    computed(std::move(name), type, [&column, unknown](size_t row) {
      const int64_t value = column.empty() ? unknown : static_cast<int64_t>(column[row]);
      return value == unknown ? kUnknownCell : value;
    });
  }
  template <typename Read>
  void computed(std::string name, CellType type, Read read) {
    add(std::move(name), type, [read = std::move(read)](size_t row, CellSink& cell) {
      const int64_t value = read(row);
      value == kUnknownCell ? cell.unknown() : cell.integer(value);
    });
  }
  void looked_up(std::string name, const std::vector<uint32_t>& index,
                 std::vector<int64_t> values) {
    computed(std::move(name), CellType::Integer, [&index, values = std::move(values)](size_t row) {
      return index.empty() ? kUnknownCell : values[index[row]];
    });
  }
  template <typename Column>
  void ids(std::string name, const Column& column, bool zero_is_unknown) {
    add(std::move(name), CellType::Id, [&column, zero_is_unknown](size_t row, CellSink& cell) {
      if (column.empty() || (zero_is_unknown && column[row] == 0)) return cell.unknown();
      cell.id(static_cast<uint64_t>(column[row]));
    });
  }
  template <typename Read>
  void reals(std::string name, Read read) {
    add(std::move(name), CellType::Real, [read](size_t row, CellSink& cell) {
      const double value = read(row);
      std::isfinite(value) ? cell.real(value) : cell.unknown();
    });
  }
  template <typename Column, typename TextOf>
  void texts(std::string name, const Column& column, TextOf text_of) {
    add(std::move(name), CellType::Text, [&column, text_of](size_t row, CellSink& cell) {
      column.empty() ? cell.unknown() : write_text(text_of(column[row]), cell);
    });
  }
  template <typename Key, typename TextOf>
  void texts_by(std::string name, Key key, TextOf text_of) {
    add(std::move(name), CellType::Text,
        [key, text_of](size_t row, CellSink& cell) { write_text(text_of(key(row)), cell); });
  }
  void keep(std::shared_ptr<const void> memory) { table_.kept.push_back(std::move(memory)); }

  ExportTable finish() { return std::move(table_); }

 private:
  template <typename Read>
  void add(std::string name, CellType type, Read read) {
    table_.columns.push_back({std::move(name), type, std::move(read)});
  }
  static void write_text(std::string_view text, CellSink& cell) {
    text.empty() ? cell.unknown() : cell.text(text);
  }

  ExportTable table_;
};

// Kinds that have no table of their own: as the format describes them.
ExportTable other(const timeline::SessionTexts& texts, const format::Batch& batch) {
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
      case format::ColumnType::Id64: table.ids(name, column, false); break;
      case format::ColumnType::Integer: table.number(name, CellType::Integer, column); break;
      case format::ColumnType::DictId:
        table.texts(name, column, [&texts, dict = spec.dict](uint64_t id) {
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

std::vector<ExportTable> export_tables(const timeline::SessionTexts& texts) {
  const analysis::Tables& from = texts.tables();
  std::vector<ExportTable> tables;
  const auto add = [&](const char* name, size_t rows, auto describe) {
    TableBuilder table(name, rows);
    describe(table, texts);
    tables.push_back(table.finish());
  };
  add("kernels", from.kernels.rows(), describe_kernels<TableBuilder>);
  add("memcpy", from.copies.rows(), describe_copies<TableBuilder>);
  add("memset", from.fills.rows(), describe_fills<TableBuilder>);
  add("sync", from.waits.rows(), describe_waits<TableBuilder>);
  add("graphs", from.graphs.rows(), describe_graphs<TableBuilder>);
  add("memory", from.allocations.rows(), describe_allocations<TableBuilder>);
  add("api", from.api_calls.rows(), describe_api_calls<TableBuilder>);
  add("scopes", from.scopes.rows(), describe_scopes<TableBuilder>);
  add("markers", from.markers.rows(), describe_markers<TableBuilder>);
  add("counters", from.counters.rows(), describe_counters<TableBuilder>);
  add("device_metrics", from.device_metrics.rows(), describe_device_metrics<TableBuilder>);
  add("host_metrics", from.host_metrics.rows(), describe_host_metrics<TableBuilder>);
  for (const auto& [kind, batch] : from.others) tables.push_back(other(texts, batch));
  return tables;
}

uint64_t table_rows(const analysis::Tables& tables) {
  uint64_t rows = tables.kernels.rows() + tables.copies.rows() + tables.fills.rows() +
                  tables.waits.rows() + tables.graphs.rows() + tables.allocations.rows() +
                  tables.api_calls.rows() + tables.scopes.rows() + tables.markers.rows() +
                  tables.counters.rows() + tables.device_metrics.rows() +
                  tables.host_metrics.rows();
  for (const auto& [kind, batch] : tables.others) rows += batch.rows();
  return rows;
}

}  // namespace gpufl::exporting
