// SPDX-License-Identifier: Apache-2.0
#include "export/table_columns.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "export/table_list.hpp"

namespace gpufl::exporting {
namespace {

// The columns of one table, as functions that read a cell: a Table of export/session_tables.hpp.
class CellColumns {
 public:
  static constexpr bool kIsResolved = false;

  CellColumns(std::string name, size_t rows) { table_ = {std::move(name), rows, {}, {}}; }

  template <typename Column>
  void number(ColumnHead head, const Column& column) {
    add(std::move(head),
        [&column](size_t row, CellSink& cell) { cell.integer(static_cast<int64_t>(column[row])); });
  }
  template <typename Column>
  void number(ColumnHead head, const Column& column, int64_t unknown) {
    computed(std::move(head), [&column, unknown](size_t row) {
      const int64_t value = column.empty() ? unknown : static_cast<int64_t>(column[row]);
      return value == unknown ? kUnknownCell : value;
    });
  }
  template <typename Read>
  void computed(ColumnHead head, Read read) {
    add(std::move(head), [read = std::move(read)](size_t row, CellSink& cell) {
      const int64_t value = read(row);
      value == kUnknownCell ? cell.unknown() : cell.integer(value);
    });
  }
  void looked_up(ColumnHead head, const std::vector<uint32_t>& index, std::vector<int64_t> values) {
    computed(std::move(head), [&index, values = std::move(values)](size_t row) {
      return index.empty() ? kUnknownCell : values[index[row]];
    });
  }
  template <typename Column>
  void ids(ColumnHead head, const Column& column, bool zero_is_unknown) {
    add(std::move(head), [&column, zero_is_unknown](size_t row, CellSink& cell) {
      if (column.empty() || (zero_is_unknown && column[row] == 0)) return cell.unknown();
      cell.id(static_cast<uint64_t>(column[row]));
    });
  }
  template <typename Read>
  void reals(ColumnHead head, Read read) {
    add(std::move(head), [read](size_t row, CellSink& cell) {
      const double value = read(row);
      std::isfinite(value) ? cell.real(value) : cell.unknown();
    });
  }
  template <typename Column, typename TextOf>
  void texts(ColumnHead head, const Column& column, const TextOf& text_of) {
    add(std::move(head), [&column, text_of](size_t row, CellSink& cell) {
      column.empty() ? cell.unknown() : write_text(text_of(column[row]), cell);
    });
  }
  template <typename Key, typename TextOf>
  void texts_by(ColumnHead head, Key key, TextOf text_of) {
    add(std::move(head),
        [key, text_of](size_t row, CellSink& cell) { write_text(text_of(key(row)), cell); });
  }
  bool wants(std::string_view /*name*/) const { return true; }
  void keep(std::shared_ptr<const void> memory) { table_.kept.push_back(std::move(memory)); }

  ExportTable finish() { return std::move(table_); }

 private:
  template <typename Read>
  void add(ColumnHead head, Read read) {
    table_.columns.push_back({std::move(head), std::move(read)});
  }
  static void write_text(std::string_view text, CellSink& cell) {
    text.empty() ? cell.unknown() : cell.text(text);
  }

  ExportTable table_;
};

}  // namespace

std::string_view to_string(CellType type) {
  constexpr std::array<std::string_view, 6> kNames = {"time_ns", "duration_ns", "integer",
                                                      "id64",    "number",      "text"};
  return kNames[static_cast<size_t>(type)];
}

std::vector<ExportTable> export_tables(const timeline::SessionTexts& texts) {
  std::vector<ExportTable> tables;
  for (const SessionTable<CellColumns>& from : session_tables<CellColumns>()) {
    const size_t rows = from.rows(texts.tables(), from.kind);
    if (rows == 0 || from.file.empty()) continue;
    CellColumns columns(std::string(from.file), rows);
    from.describe(columns, texts, from.kind);
    tables.push_back(columns.finish());
  }
  return tables;
}

uint64_t table_rows(const analysis::Tables& tables) {
  uint64_t rows = 0;
  for (const SessionTable<CellColumns>& table : session_tables<CellColumns>()) {
    if (!table.file.empty()) rows += table.rows(tables, table.kind);
  }
  return rows;
}

}  // namespace gpufl::exporting
