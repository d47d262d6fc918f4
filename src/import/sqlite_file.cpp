// SPDX-License-Identifier: Apache-2.0
#include "import/sqlite_file.hpp"

#include <algorithm>

namespace gpufl::importing {
namespace {

using base::Code;
using base::Status;

Status why_not(const Status& failure) {
  return {Code::Corrupt, "SQLite cannot read it: " + failure.message() + "; export it again"};
}

}  // namespace

base::Result<std::unique_ptr<SqliteFile>> SqliteFile::open(const std::filesystem::path& path) {
  auto file = sqlite::Database::open(path, sqlite::Database::Mode::Existing);
  if (!file) return why_not(file.status());
  return std::unique_ptr<SqliteFile>(new SqliteFile(std::move(*file)));
}

std::vector<std::string> SqliteFile::columns_of(const std::string& table) const {
  std::vector<std::string> columns;
  // A file without a schema that can be read has no columns, and scan() says so.
  (void)file_->query("SELECT name FROM pragma_table_info(?)", {table},
                     [&](const Row& row) { columns.emplace_back(row.text(0)); });
  return columns;
}

bool SqliteFile::has_table(const std::string& table) const { return !columns_of(table).empty(); }

Status SqliteFile::scan(const std::string& table, const std::vector<std::string>& columns,
                        const std::function<void(const Row&)>& see) const {
  const std::vector<std::string> present = columns_of(table);
  if (present.empty()) return Status::ok();
  std::string sql = "SELECT ";
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool is_there = std::find(present.begin(), present.end(), columns[i]) != present.end();
    sql += i == 0 ? "" : ",";
    sql += is_there ? "\"" + columns[i] + "\"" : "NULL";
  }
  const Status scanned = file_->query(sql + " FROM \"" + table + "\"", {}, see);
  return scanned ? scanned : why_not(scanned);
}

}  // namespace gpufl::importing
