// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "export/cell.hpp"
#include "timeline/session_texts.hpp"

// Every table of a session as rows and columns for people's own tools: what CSV and JSON hold. A
// table has the same columns in every session; a cell that the log does not have is unknown. Refers
// to the SessionTexts that it was made from. One thread.
namespace gpufl::exporting {

struct TableColumn {
  ColumnHead head;
  std::function<void(size_t row, CellSink& cell)> read;
};

struct ExportTable {
  std::string name;  // "kernels"
  size_t rows = 0;
  std::vector<TableColumn> columns;
  std::vector<std::shared_ptr<const void>> kept;  // what columns refer to
};

// Those that have rows.
std::vector<ExportTable> export_tables(const timeline::SessionTexts& texts);
// Rows of them.
uint64_t table_rows(const analysis::Tables& tables);

}  // namespace gpufl::exporting
