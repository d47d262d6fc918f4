// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

struct sqlite3;
struct sqlite3_stmt;

// Tables of an SQLite file whose columns are not known beforehand. Read only; one thread.
namespace gpufl::importing {

class SqliteFile {
 public:
  // One row, by the position of a column among those that scan() was asked for.
  class Row {
   public:
    explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
    // `fallback` where the file has no such column, or no value in it.
    int64_t integer(size_t column, int64_t fallback = -1) const;
    std::string_view text(size_t column) const;  // empty likewise; holds until the next row
    bool has(size_t column) const;

   private:
    sqlite3_stmt* statement_;
  };

  static base::Result<std::unique_ptr<SqliteFile>> open(const std::filesystem::path& path);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  bool has_table(const std::string& table) const;
  // Calls `see` for every row. Columns that the table lacks have no value; a table that is not
  // there has no rows. Names are the caller's own words, never a file's.
  base::Status scan(const std::string& table, const std::vector<std::string>& columns,
                    const std::function<void(const Row&)>& see) const;

 private:
  explicit SqliteFile(sqlite3* file) : file_(file) {}
  std::vector<std::string> columns_of(const std::string& table) const;

  sqlite3* file_;
};

}  // namespace gpufl::importing
