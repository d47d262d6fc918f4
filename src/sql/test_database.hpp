// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sql/database.hpp"
#include "sql/session_table.hpp"

// What the tests of this room share: a database over sessions of the repository, on the library
// that `./dev setup` installed. For tests only.
namespace gpufl::sql::testing {

inline std::string test_library() {
  const std::filesystem::path folder = GPUFL_TEST_DUCKDB;
  std::error_code error;
  for (const auto& package : std::filesystem::directory_iterator(folder, error)) {
    const auto library = package.path() / "libduckdb.so";
    if (std::filesystem::is_regular_file(library, error)) return library.string();
  }
  return "";
}

// Rows as texts, a null as "NULL".
class Gathered final : public ResultSink {
 public:
  std::vector<ResultColumn> columns;
  std::vector<std::vector<std::string>> rows;

  void begin(const std::vector<ResultColumn>& its_columns) override { columns = its_columns; }
  void row(Cells cells) override {
    auto& texts = rows.emplace_back();
    for (const auto& cell : cells) texts.emplace_back(cell.value_or("NULL"));
  }
};

class DatabaseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string library = test_library();
    if (library.empty()) GTEST_SKIP() << "no libduckdb.so in " << GPUFL_TEST_DUCKDB;
    auto api = open_duckdb(library);
    ASSERT_TRUE(api) << api.status().text();
    api_ = std::make_unique<DuckdbApi>(std::move(*api));
  }
  void TearDown() override { close(); }

  void open(const std::vector<std::filesystem::path>& folders,
            const DatabaseOptions& options = {}) {
    close();
    std::vector<format::SessionReader> readers;
    for (const auto& folder : folders) {
      for (const auto& dir : format::find_sessions(folder)) {
        auto reader = format::SessionReader::open(dir);
        ASSERT_TRUE(reader) << reader.status().text();
        readers.push_back(std::move(*reader));
      }
    }
    sessions_ = std::make_unique<SessionSet>(std::move(readers), nullptr);
    auto tables = session_tables(*sessions_);
    tables.push_back(session_list(*sessions_));
    functions_ = std::make_unique<TableFunctions>(*api_, std::move(tables));
    auto database = Database::open(*api_, *functions_, options);
    ASSERT_TRUE(database) << database.status().text();
    database_ = std::move(*database);
  }
  void close() {
    database_.reset();
    functions_.reset();
    sessions_.reset();
  }
  std::vector<std::vector<std::string>> rows_of(const std::string& query) {
    Gathered gathered;
    if (database_ == nullptr) return {};
    const auto answered = database_->run(query, 0, gathered);
    EXPECT_TRUE(answered) << query << ": " << answered.status().message();
    return gathered.rows;
  }
  std::string cell_of(const std::string& query) {
    const auto rows = rows_of(query);
    return rows.size() == 1 && rows.front().size() == 1 ? rows.front().front() : "not one cell";
  }
  std::string error_of(const std::string& query) {
    Gathered gathered;
    if (database_ == nullptr) return "";
    const auto answered = database_->run(query, 0, gathered);
    return answered ? "" : answered.status().message();
  }

  std::unique_ptr<DuckdbApi> api_;
  std::unique_ptr<SessionSet> sessions_;
  std::unique_ptr<TableFunctions> functions_;
  std::unique_ptr<Database> database_;
};

}  // namespace gpufl::sql::testing
