// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "export/session_texts.hpp"

// Every table of a session as rows and columns for people's own tools: what CSV and JSON hold. A
// table has the same columns in every session; a cell that the log does not have is unknown. Refers
// to the SessionTexts that it was made from. One thread.
namespace gpufl::exporting {

// Takes the value of one cell; called once for it.
class CellSink {
 public:
  virtual ~CellSink() = default;
  virtual void unknown() = 0;
  virtual void integer(int64_t value) = 0;
  virtual void id(uint64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void text(std::string_view value) = 0;
};

enum class CellType : uint8_t {
  Time,      // nanoseconds since the session's start
  Duration,  // nanoseconds
  Integer,
  Id,  // 64 bits without a sign
  Real,
  Text,
};
std::string_view to_string(CellType type);

struct TableColumn {
  std::string name;
  CellType type;
  std::function<void(size_t row, CellSink& cell)> read;
};

struct ExportTable {
  std::string name;  // "kernels"
  size_t rows = 0;
  std::vector<TableColumn> columns;
  std::vector<std::shared_ptr<const void>> kept;  // what columns refer to
};

std::vector<ExportTable> export_tables(const SessionTexts& texts);
// Rows of all tables that export_tables() gives.
uint64_t table_rows(const analysis::Tables& tables);

}  // namespace gpufl::exporting
