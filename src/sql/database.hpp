// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "sql/duckdb_api.hpp"
#include "sql/table_functions.hpp"

// A DuckDB database in memory that knows the tables and views, and nothing else: no file, no
// network, no extension, no setting can be reached or changed by a query. One query at a time; what
// a query may take is bounded.
namespace gpufl::sql {

struct DatabaseOptions {
  uint64_t memory_bytes = uint64_t{1} << 30;  // of DuckDB's own; reading sessions takes some more
  std::string output_file;  // absolute: the only file that can be written; empty: none
};

struct ResultColumn {
  std::string name;
  bool is_number = false;
  bool is_boolean = false;
};

// Takes the rows of an answer, one after the other.
class ResultSink {
 public:
  using Cells = std::span<const std::optional<std::string_view>>;

  virtual ~ResultSink() = default;
  virtual void begin(const std::vector<ResultColumn>& columns) = 0;
  virtual void row(Cells cells) = 0;  // a null has no text
  // False ends the query early, as if there were no more rows.
  virtual bool wants_more() const { return true; }
};

struct Answered {
  uint64_t rows = 0;
  bool has_more = false;  // the limit cut it off
};

class Database {
 public:
  // `api` and `functions` outlive it.
  static base::Result<std::unique_ptr<Database>> open(const DuckdbApi& api,
                                                      TableFunctions& functions,
                                                      const DatabaseOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // InvalidArgument where the query is wrong, or does anything but read. At most `max_rows` rows;
  // 0: all.
  base::Result<Answered> run(const std::string& query, uint64_t max_rows, ResultSink& sink);
  // Into the output file, as Parquet.
  base::Result<Answered> run_to_parquet(const std::string& query, uint64_t max_rows);

  // Any thread: what runs ends soon.
  void interrupt();

 private:
  struct Checked {
    std::vector<ResultColumn> columns;
    bool is_explanation = false;
  };
  Database(const DuckdbApi& api, TableFunctions& functions, DatabaseOptions options)
      : api_(api), functions_(functions), options_(std::move(options)) {}

  base::Status begin();
  base::Status execute(const std::string& statement, uint64_t* rows_changed = nullptr);
  base::Result<Checked> check(const std::string& query);
  base::Status check_calls(const std::string& query);
  base::Result<Answered> fetch(const std::string& statement, uint64_t max_rows, ResultSink& sink);
  base::Status failed(const char* why) const;

  const DuckdbApi& api_;
  TableFunctions& functions_;
  const DatabaseOptions options_;
  duckdb::Database database_ = nullptr;
  duckdb::Connection connection_ = nullptr;
};

// 'it''s'.
std::string sql_string(std::string_view text);

}  // namespace gpufl::sql
