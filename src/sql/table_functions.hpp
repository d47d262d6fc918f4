// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.hpp"
#include "sql/duckdb_api.hpp"
#include "sql/table.hpp"

// Tables as table functions of a DuckDB connection: DuckDB's threads call into them while a query
// runs, and ask for the columns that it needs. No exception leaves them.
namespace gpufl::sql {

// What the functions share. Outlives the database, because texts in results point into it.
class TableFunctions {
 public:
  TableFunctions(const DuckdbApi& api, std::vector<std::unique_ptr<Table>> tables)
      : api_(api), tables_(std::move(tables)) {}
  TableFunctions(const TableFunctions&) = delete;
  TableFunctions& operator=(const TableFunctions&) = delete;

  const std::vector<std::unique_ptr<Table>>& tables() const { return tables_; }
  const DuckdbApi& api() const { return api_; }

  base::Status register_in(duckdb::Connection connection);

  // Any thread: scans fail from now on.
  void cancel() { is_cancelled_ = true; }
  const std::atomic<bool>& is_cancelled() const { return is_cancelled_; }
  // A store of texts for one scan; any thread.
  TextStore& new_store();

 private:
  // What DuckDB hands back to our functions.
  struct Entry {
    TableFunctions* functions;
    const Table* table;
  };
  friend struct TableCallbacks;

  const DuckdbApi& api_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::deque<Entry> entries_;
  std::atomic<bool> is_cancelled_ = false;
  std::mutex mutex_;
  std::deque<TextStore> stores_;
};

// What DuckDB calls the type of a cell.
duckdb::Type type_of(exporting::CellType type);
std::string_view type_name(exporting::CellType type);

}  // namespace gpufl::sql
