// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "sqlite/database.hpp"

// Tables of an SQLite file whose columns are not known beforehand. Read only; one thread.
namespace gpufl::importing {

class SqliteFile {
 public:
  // By the position of a column among those that scan() was asked for. One that the file lacks has
  // no value.
  using Row = sqlite::Row;

  static base::Result<std::unique_ptr<SqliteFile>> open(const std::filesystem::path& path);

  bool has_table(const std::string& table) const;
  // Calls `see` for every row. Columns that the table lacks have no value; a table that is not
  // there has no rows. Names are the caller's own words, never a file's.
  base::Status scan(const std::string& table, const std::vector<std::string>& columns,
                    const std::function<void(const Row&)>& see) const;

 private:
  explicit SqliteFile(std::unique_ptr<sqlite::Database> file) : file_(std::move(file)) {}
  std::vector<std::string> columns_of(const std::string& table) const;

  const std::unique_ptr<sqlite::Database> file_;
};

}  // namespace gpufl::importing
