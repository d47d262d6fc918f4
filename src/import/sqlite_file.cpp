// SPDX-License-Identifier: Apache-2.0
#include "import/sqlite_file.hpp"

#include <sqlite3.h>

#include <algorithm>

namespace gpufl::importing {
namespace {

using base::Code;
using base::Status;

using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

Statement prepare(sqlite3* file, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(file, sql.c_str(), -1, &statement, nullptr);
  return {statement, &sqlite3_finalize};
}

Status why_not(sqlite3* file) {
  return {Code::Corrupt,
          std::string("SQLite cannot read it: ") + sqlite3_errmsg(file) + "; export it again"};
}

}  // namespace

int64_t SqliteFile::Row::integer(size_t column, int64_t fallback) const {
  const int at = static_cast<int>(column);
  const bool is_number = sqlite3_column_type(statement_, at) == SQLITE_INTEGER;
  return is_number ? sqlite3_column_int64(statement_, at) : fallback;
}

std::string_view SqliteFile::Row::text(size_t column) const {
  const int at = static_cast<int>(column);
  if (sqlite3_column_type(statement_, at) != SQLITE_TEXT) return {};
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, at));
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_, at))};
}

bool SqliteFile::Row::has(size_t column) const {
  return sqlite3_column_type(statement_, static_cast<int>(column)) != SQLITE_NULL;
}

base::Result<std::unique_ptr<SqliteFile>> SqliteFile::open(const std::filesystem::path& path) {
  sqlite3* file = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &file, SQLITE_OPEN_READONLY, nullptr);
  std::unique_ptr<SqliteFile> opened(new SqliteFile(file));
  if (code != SQLITE_OK) return why_not(file);
  // Opening reads nothing: only now a file that is damaged or cut is known.
  const Statement tables = prepare(file, "SELECT count(*) FROM sqlite_master");
  if (tables == nullptr || sqlite3_step(tables.get()) != SQLITE_ROW) return why_not(file);
  return opened;
}

SqliteFile::~SqliteFile() { sqlite3_close(file_); }

std::vector<std::string> SqliteFile::columns_of(const std::string& table) const {
  std::vector<std::string> columns;
  const Statement names = prepare(file_, "SELECT name FROM pragma_table_info('" + table + "')");
  while (names != nullptr && sqlite3_step(names.get()) == SQLITE_ROW) {
    columns.emplace_back(Row(names.get()).text(0));
  }
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
  const Statement rows = prepare(file_, sql + " FROM \"" + table + "\"");
  if (rows == nullptr) return why_not(file_);
  int code = sqlite3_step(rows.get());
  for (; code == SQLITE_ROW; code = sqlite3_step(rows.get())) see(Row(rows.get()));
  return code == SQLITE_DONE ? Status::ok() : why_not(file_);
}

}  // namespace gpufl::importing
