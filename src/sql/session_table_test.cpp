// SPDX-License-Identifier: Apache-2.0
// What a query sees of recorded sessions is what exports have of them.
#include "sql/session_table.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/session/session_data.hpp"
#include "export/table_columns.hpp"
#include "sql/test_database.hpp"

namespace gpufl::sql {
namespace {

namespace fs = std::filesystem;
using testing::DatabaseTest;
using Rows = std::vector<std::vector<std::string>>;

std::vector<fs::path> recorded_sessions() {
  std::vector<fs::path> folders;
  for (const char* folder : {GPUFL_SESSIONS_DIR, GPUFL_RECORDINGS_DIR}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!entry.is_directory()) continue;
      for (const fs::path& session : format::find_sessions(entry.path())) {
        folders.push_back(session);
      }
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

class CellText final : public exporting::CellSink {
 public:
  std::string take() { return std::move(text_); }
  void unknown() override { text_ = "NULL"; }
  void integer(int64_t value) override { text_ = std::to_string(value); }
  void id(uint64_t value) override { text_ = std::to_string(value); }
  void real(double value) override { text_ = fmt::format("{:.9g}", value); }
  void text(std::string_view value) override { text_ = value; }

 private:
  std::string text_;
};

// Decimal fractions as CellText has them.
std::string rounded(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? fmt::format("{:.9g}", value)
                                                                  : text;
}

// Of kinds without typed columns exports have ids of scopes and fractions as the log has them,
// queries what they stand for.
bool is_the_same(const exporting::ExportTable& table, const std::string& column) {
  static const std::set<std::string> resolved = {"pc_sample", "sass_metric", "range_metric",
                                                 "pm_sample", "pending"};
  return !resolved.contains(table.name) ||
         (column != "scope" && column != "value" && column != "exponent");
}

class SessionTableTest : public DatabaseTest {
 protected:
  // Rows of the table, in any order, as exports and as queries have them.
  void compare(const exporting::ExportTable& table, const fs::path& session) {
    std::string select;
    std::vector<const exporting::TableColumn*> columns;
    for (const exporting::TableColumn& column : table.columns) {
      if (!is_the_same(table, column.head.name)) continue;
      columns.push_back(&column);
      select += (select.empty() ? "" : ", ") + ("\"" + column.head.name + "\"");
    }
    Rows expected(table.rows);
    CellText cell;
    for (size_t row = 0; row < table.rows; ++row) {
      for (const auto* column : columns) {
        column->read(row, cell);
        expected[row].push_back(cell.take());
      }
    }
    Rows rows = rows_of("select " + select + " from " + table.name);
    for (auto& row : rows) {
      for (size_t i = 0; i < row.size(); ++i) {
        if (columns[i]->head.type == exporting::CellType::Real) row[i] = rounded(row[i]);
      }
    }
    std::sort(rows.begin(), rows.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(rows.size(), expected.size()) << session << " " << table.name;
    for (size_t row = 0; row < rows.size(); ++row) {
      for (size_t i = 0; i < columns.size(); ++i) {
        ASSERT_EQ(rows[row][i], expected[row][i])
            << session << " " << table.name << "." << columns[i]->head.name << " row " << row;
      }
    }
    // Each column by itself, when nothing but it is read: of the first sessions that have it.
    constexpr int kSessions = 2;
    if (++read_alone_[table.name] > kSessions) return;
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string name = columns[i]->head.name;
      std::map<std::string, size_t> counts, counts_there;
      for (const auto& row : expected) ++counts[row[i]];
      for (const auto& row : rows_of(fmt::format("select \"{0}\" from {1}", name, table.name))) {
        const bool is_real = columns[i]->head.type == exporting::CellType::Real;
        ++counts_there[is_real ? rounded(row[0]) : row[0]];
      }
      ASSERT_EQ(counts_there, counts) << session << " " << table.name << "." << name;
    }
  }

  std::map<std::string, int> read_alone_;
};

TEST_F(SessionTableTest, HasWhatExportsHave) {
  std::set<std::string> seen;
  for (const fs::path& session : recorded_sessions()) {
    auto loaded = analysis::load(session);
    ASSERT_TRUE(loaded) << session;
    const timeline::SessionTexts texts(*loaded);
    open({session});
    for (const exporting::ExportTable& table : exporting::export_tables(texts)) {
      seen.insert(table.name);
      ASSERT_NO_FATAL_FAILURE(compare(table, session));
      EXPECT_EQ(cell_of("select count(*) from " + table.name), std::to_string(table.rows));
    }
  }
  EXPECT_GE(seen.size(), 12U);  // of the kinds that the recordings hold
}

TEST_F(SessionTableTest, RangesTakeWhatBeganInThem) {
  for (const char* recording : {"h200_allocation_in_loop", "h200_monitor", "h200_streams"}) {
    const fs::path session = fs::path(GPUFL_RECORDINGS_DIR) / recording;
    open({session});
    for (const std::string table : {"kernels", "device_metrics", "api", "memory"}) {
      const std::string time = table == "kernels" || table == "api" ? "start_ns" : "time_ns";
      const auto bounds = rows_of(fmt::format(
          "select coalesce(quantile_disc({0}, 0.25), 0), coalesce(quantile_disc({0}, 0.75), 0), "
          "coalesce(min({0}), 0), coalesce(max({0}), 0) from {1}",
          time, table));
      ASSERT_EQ(bounds.size(), 1U);
      for (const auto& [from, to] : {std::pair(0, 1), std::pair(2, 0), std::pair(1, 3)}) {
        const std::string low = bounds[0][static_cast<size_t>(from)];
        const std::string high = bounds[0][static_cast<size_t>(to)];
        EXPECT_EQ(rows_of(fmt::format("select * from {}(from_ns := {}, to_ns := {}) order by all",
                                      table, low, high)),
                  rows_of(fmt::format("select * from {0} where {1} >= {2} and {1} < {3} "
                                      "order by all",
                                      table, time, low, high)))
            << session << " " << table;
      }
    }
  }
}

TEST_F(SessionTableTest, SessionsOfSeveralFoldersAreToldApart) {
  open({fs::path(GPUFL_SESSIONS_DIR)});
  const auto rows = rows_of("select session, count(*) from kernels group by all order by session");
  EXPECT_EQ(rows.size(), sessions_->sessions().size());
  EXPECT_EQ(rows_of("select s.session, count(*) from sessions s join kernels k using (session) "
                    "group by all order by 1"),
            rows);
  EXPECT_EQ(cell_of("select count(*) from sessions"), std::to_string(rows.size()));
}

TEST_F(SessionTableTest, NamesOfKernelsAreThereAsTheCompilerMadeThem) {
  open({fs::path(GPUFL_RECORDINGS_DIR) / "h200_tiny"});
  EXPECT_EQ(rows_of("select distinct name from kernels where mangled_name = "
                    "'_ZN47_GLOBAL__N__b5347fdb_18_fixture_program_cu_main5scaleEPffi'"),
            (Rows{{"(anonymous namespace)::scale(float*, float, int)"}}));
}

}  // namespace
}  // namespace gpufl::sql
