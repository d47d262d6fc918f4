// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "symbols/symbolize_session.hpp"

// A question in SQL to sessions on disk, answered by DuckDB, which is opened at run time. Nothing
// of the sessions is copied: rows are read while the query runs, in bounded memory. One query at a
// time in a process.
namespace gpufl::workbench {

enum class AnswerForm : uint8_t { Table, Csv, Json, Parquet };

struct QueryRequest {
  std::string query;
  std::filesystem::path path;  // a session, a run or a log folder
  std::string library;         // libduckdb.so; empty: where sql/duckdb_library.hpp looks
  AnswerForm form = AnswerForm::Table;
  std::string output = "-";  // a file, or - for standard output
  bool overwrite = false;
  uint64_t max_rows = 0;                     // 0: all
  int64_t timeout_ns = 0;                    // 0: as long as it takes
  uint64_t memory_bytes = 0;                 // of DuckDB
  const symbols::LibdwApi* libdw = nullptr;  // to name native frames
  // Asked a hundred times a second, by another thread: a failure stops the query, which fails with
  // it.
  std::function<base::Status()> check = nullptr;
  // Called by that thread where a query that was stopped goes on for a second: DuckDB looks at
  // nothing while it plans, and computes constants then. For programs that can end themselves; in
  // others the query ends when DuckDB has planned it.
  std::function<void(const base::Status& why)> on_deaf = nullptr;
};

struct QueryOutcome {
  uint64_t rows = 0;
  uint64_t bytes = 0;              // of the output
  bool has_more = false;           // there may be more rows than the limit let through
  std::vector<std::string> notes;  // sentences: sessions that cannot be read, copies, damage
  bool is_whole = true;            // nothing that was recorded is known to be missing from it
};

// NotFound: there is no session, or no DuckDB. InvalidArgument: the query is wrong or does
// anything but read. LimitReached: it took too long. Otherwise as `check` says.
base::Result<QueryOutcome> query_sessions(const QueryRequest& request);

// A table or view that queries can read.
struct QueryTable {
  struct Column {
    std::string name, type, unit, meaning;  // `type`: SQL's
  };
  std::string name, sentence;
  std::vector<Column> columns;
  bool has_range = false;  // it takes from_ns and to_ns
  std::string view;        // of a view its query; it lists no columns
};
std::vector<QueryTable> query_tables();

struct InstalledLibrary {
  std::filesystem::path library;
  std::string version;
  bool was_there = false;
};
// By the user's npm; into the user's data folder. Fails as sql::install_duckdb.
base::Result<InstalledLibrary> install_query_library();

}  // namespace gpufl::workbench
