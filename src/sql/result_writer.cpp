// SPDX-License-Identifier: Apache-2.0
#include "sql/result_writer.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/json.hpp"
#include "export/csv.hpp"
#include "text/display.hpp"

namespace gpufl::sql {
namespace {

// Rows from which a table takes the widths of its columns; later ones may be wider.
constexpr size_t kMeasuredRows = 1000;
constexpr size_t kWidestCell = 80;
constexpr std::string_view kGap = "  ";

// A cell as lines; explanations of queries have several, of anything else too much is cut off.
std::vector<std::string> lines_of(std::string_view cell) {
  if (cell.find('\n') == std::string_view::npos) {
    return {text::fit(text::make_harmless(cell), kWidestCell)};
  }
  std::vector<std::string> lines;
  while (!cell.empty()) {
    const size_t end = cell.find('\n');
    lines.push_back(text::make_harmless(cell.substr(0, end)));
    cell.remove_prefix(end == std::string_view::npos ? cell.size() : end + 1);
  }
  return lines;
}

class TableWriter final : public ResultWriter {
 public:
  explicit TableWriter(Write write) : write_(std::move(write)) {}

  void begin(const std::vector<ResultColumn>& columns) override {
    columns_ = columns;
    Row& heads = rows_.emplace_back();
    for (const ResultColumn& column : columns) heads.push_back(lines_of(column.name));
  }
  void row(Cells cells) override {
    Row row;
    for (const auto& cell : cells) row.push_back(lines_of(cell.value_or("")));
    if (is_measured_) return write_row(row);
    rows_.push_back(std::move(row));
    if (rows_.size() > kMeasuredRows) measure();
  }
  void finish() override {
    if (!is_measured_) measure();
  }

 private:
  using Row = std::vector<std::vector<std::string>>;  // lines of each cell

  void measure() {
    is_measured_ = true;
    widths_.assign(columns_.size(), 0);
    for (const Row& row : rows_) {
      for (size_t i = 0; i < row.size() && i < widths_.size(); ++i) {
        for (const std::string& line : row[i]) {
          widths_[i] = std::max(widths_[i], text::display_width(line));
        }
      }
    }
    for (size_t i = 0; i < rows_.size(); ++i) {
      write_row(rows_[i]);
      if (i == 0) write_rule();
    }
    rows_.clear();
  }
  void write_rule() {
    std::string line;
    for (const size_t width : widths_) {
      line += (line.empty() ? "" : std::string(kGap)) + std::string(width, '-');
    }
    write_(line + "\n");
  }
  void write_row(const Row& row) {
    size_t height = 1;
    for (const auto& cell : row) height = std::max(height, cell.size());
    for (size_t at = 0; at < height; ++at) {
      std::string line;
      for (size_t i = 0; i < row.size(); ++i) {
        const std::string cell = at < row[i].size() ? row[i][at] : "";
        const size_t width = text::display_width(cell);
        const size_t wanted = i < widths_.size() ? widths_[i] : 0;
        const std::string padding(wanted > width ? wanted - width : 0, ' ');
        if (i != 0) line += kGap;
        line += i < columns_.size() && columns_[i].is_number ? padding + cell : cell + padding;
      }
      while (line.ends_with(' ')) line.pop_back();
      write_(line + "\n");
    }
  }

  Write write_;
  std::vector<ResultColumn> columns_;
  std::vector<Row> rows_;  // until they are measured; the first: the names
  std::vector<size_t> widths_;
  bool is_measured_ = false;
};

class CsvWriter final : public ResultWriter {
 public:
  explicit CsvWriter(Write write) : write_(std::move(write)) {}

  void begin(const std::vector<ResultColumn>& columns) override {
    std::string line;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i != 0) line += ',';
      exporting::append_csv_field(line, columns[i].name);
    }
    write_(line + "\r\n");
  }
  void row(Cells cells) override {
    line_.clear();
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i != 0) line_ += ',';
      if (cells[i]) exporting::append_csv_field(line_, *cells[i]);
    }
    write_(line_ += "\r\n");
  }
  void finish() override {}

 private:
  Write write_;
  std::string line_;
};

class JsonWriter final : public ResultWriter {
 public:
  explicit JsonWriter(Write write) : write_(std::move(write)) {}

  void begin(const std::vector<ResultColumn>& columns) override {
    columns_ = columns;
    std::set<std::string> used;
    for (const ResultColumn& column : columns) {
      // Of members with the same name readers keep the last alone.
      std::string unique = column.name;
      for (int i = 1; !used.insert(unique).second; ++i) {
        unique = column.name + "_" + std::to_string(i);
      }
      std::string name;
      base::append_json_string(name, unique);
      names_.push_back(name + ":");
    }
    write_("[");
  }
  void row(Cells cells) override {
    line_ = is_first_ ? "\n{" : ",\n{";
    is_first_ = false;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i != 0) line_ += ',';
      line_ += names_[i];
      append(cells[i], columns_[i]);
    }
    write_(line_ += "}");
  }
  void finish() override { write_(is_first_ ? "]\n" : "\n]\n"); }

 private:
  void append(const std::optional<std::string_view>& cell, const ResultColumn& column) {
    // DuckDB has numbers that are none, for which JSON has no word.
    const bool is_none = cell && column.is_number &&
                         (cell->find("nan") != std::string_view::npos ||
                          cell->find("inf") != std::string_view::npos);
    if (!cell || is_none) {
      line_ += "null";
    } else if (column.is_number || column.is_boolean) {
      line_ += *cell;
    } else {
      base::append_json_string(line_, *cell);
    }
  }

  Write write_;
  std::vector<ResultColumn> columns_;
  std::vector<std::string> names_;
  std::string line_;
  bool is_first_ = true;
};

}  // namespace

std::unique_ptr<ResultWriter> make_writer(TextForm form, ResultWriter::Write write) {
  switch (form) {
    case TextForm::Table: return std::make_unique<TableWriter>(std::move(write));
    case TextForm::Csv: return std::make_unique<CsvWriter>(std::move(write));
    case TextForm::Json: return std::make_unique<JsonWriter>(std::move(write));
  }
  return nullptr;
}

}  // namespace gpufl::sql
