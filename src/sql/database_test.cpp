// SPDX-License-Identifier: Apache-2.0
#include "sql/database.hpp"

#include <fstream>

#include "sql/test_database.hpp"
#include "sql/views.hpp"

namespace gpufl::sql {
namespace {

using testing::DatabaseTest;
using testing::Gathered;
using Rows = std::vector<std::vector<std::string>>;

TEST_F(DatabaseTest, AnswersInTextsOfAnyType) {
  open({});
  EXPECT_EQ(
      rows_of("select 1, 'it''s', null, 1.5::double, true, [1, 2], {'a': 1}, "
              "18446744073709551615::ubigint"),
      (Rows{{"1", "it's", "NULL", "1.5", "true", "[1, 2]", "{'a': 1}", "18446744073709551615"}}));
  EXPECT_EQ(rows_of("select i from range(5000) t(i) order by i desc").front().front(), "4999");
  EXPECT_EQ(rows_of("select 1 as a, 2 as a;"), (Rows{{"1", "2"}}));
  EXPECT_EQ(rows_of("select 1 -- a comment\n; -- and another"), (Rows{{"1"}}));
  EXPECT_EQ(rows_of("values (1), (2)").size(), 2U);
  Gathered gathered;
  ASSERT_TRUE(database_->run("select 1 as \"a b\", 'x' as b, true as c", 0, gathered));
  ASSERT_EQ(gathered.columns.size(), 3U);
  EXPECT_EQ(gathered.columns[0].name, "a b");
  EXPECT_TRUE(gathered.columns[0].is_number);
  EXPECT_FALSE(gathered.columns[1].is_number);
  EXPECT_TRUE(gathered.columns[2].is_boolean);
}

TEST_F(DatabaseTest, QueriesMayBeNestedDeeply) {
  open({});
  std::string sum = "1";
  for (int i = 0; i < 200; ++i) sum += " + 1";
  EXPECT_EQ(cell_of("select " + sum), "201");
  std::string nested = "from range(1)";
  for (int i = 0; i < 50; ++i) nested = "select * from (" + nested + ")";
  EXPECT_EQ(cell_of(nested), "0");
  nested = "from enable_logging()";
  for (int i = 0; i < 50; ++i) nested = "select * from (" + nested + ")";
  EXPECT_NE(error_of(nested).find("enable_logging"), std::string::npos);
}

TEST_F(DatabaseTest, TellsTheSchemaInSqlToo) {
  open({});
  EXPECT_GT(rows_of("show tables").size(), 20U);
  EXPECT_GT(rows_of("describe kernels").size(), 20U);
  EXPECT_EQ(rows_of("summarize select 1 as a").size(), 1U);
  EXPECT_EQ(rows_of("explain select count(*) from kernels").size(), 1U);
  for (const View& view : views()) rows_of("from " + std::string(view.name));
}

TEST_F(DatabaseTest, LimitsRows) {
  open({});
  Gathered gathered;
  auto answered = database_->run("from range(10)", 3, gathered);
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->rows, 3U);
  EXPECT_TRUE(answered->has_more);
  EXPECT_EQ(gathered.rows.size(), 3U);
  answered = database_->run("from range(3)", 3, gathered);
  ASSERT_TRUE(answered);
  EXPECT_FALSE(answered->has_more);
}

// Each of these would read, write or change something that is none of a query's business.
TEST_F(DatabaseTest, RefusesWhateverIsNoQuestion) {
  open({});
  for (const char* statement : {"create table t as select 1",
                                "insert into kernels values (1)",
                                "drop view kernels",
                                "attach '/tmp/gpufl_no.db'",
                                "copy (select 1) to '/tmp/gpufl_no.csv'",
                                "install httpfs",
                                "load httpfs",
                                "pragma database_list",
                                "set threads = 1",
                                "set enable_external_access = true",
                                "reset all",
                                "use memory",
                                "begin transaction",
                                "vacuum",
                                "checkpoint",
                                "prepare p as select 1",
                                "call pragma_version()",
                                "export database '/tmp/gpufl_no'",
                                "select 1; select 2",
                                "",
                                "  ",
                                ";",
                                "select ?",
                                "select * from nothing",
                                "selec 1",
                                "delete from kernels",
                                "update kernels set name = ''"}) {
    EXPECT_NE(error_of(statement), "") << statement;
  }
}

TEST_F(DatabaseTest, ReachesNoFileAndNoSetting) {
  open({});
  for (const char* query : {"select * from read_csv('/etc/passwd')",
                            "select * from read_text('/etc/passwd')",
                            "select * from read_blob('/etc/passwd')",
                            "from '/etc/passwd'",
                            "from 'x.parquet'",
                            "select * from glob('/etc/*')",
                            "select * from read_parquet('https://example.invalid/x')",
                            "select * from read_json('/etc/passwd')",
                            "select getenv('HOME')",
                            "select * from parquet_metadata('/etc/passwd')",
                            "select * from sniff_csv('/etc/passwd')",
                            "explain analyze copy (select 1) to '/tmp/gpufl_no.csv'",
                            "select * from enable_logging()",
                            "select * from enable_profiling()",
                            "explain select * from enable_profiling()",
                            "with a as (from disable_logging()) from a",
                            "select * from query_table('kernels')",
                            "explain (analyze) select 1",
                            "select json_serialize_plan('from enable_logging()')",
                            "select * from query('copy (select 1) to ''/tmp/gpufl_no.csv''')"}) {
    EXPECT_NE(error_of(query), "") << query;
  }
  EXPECT_FALSE(std::filesystem::exists("/tmp/gpufl_no.csv"));
  EXPECT_EQ(cell_of("select current_setting('enable_external_access')"), "false");
  EXPECT_EQ(cell_of("select current_setting('lock_configuration')"), "true");
  EXPECT_EQ(cell_of("select current_setting('temp_directory')"), "");
}

TEST_F(DatabaseTest, CannotLeaveTheTextItIsPutInto) {
  open({});
  EXPECT_NE(error_of("select 1) to '/tmp/gpufl_no.csv' --"), "");
  EXPECT_EQ(cell_of("select '''); drop view kernels; --'"), "'); drop view kernels; --");
  EXPECT_NE(error_of(std::string("select 1\0 + 1", 13)), "");
}

TEST_F(DatabaseTest, StaysWithinItsMemory) {
  DatabaseOptions options;
  options.memory_bytes = uint64_t{64} << 20;
  open({}, options);
  const std::string why = error_of("select count(distinct i) from range(100000000) t(i)");
  EXPECT_NE(why.find("emory"), std::string::npos) << why;
}

TEST_F(DatabaseTest, WritesParquetIntoTheOneFileThatIsNamed) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "gpufl_parquet_test";
  std::filesystem::create_directories(folder);
  DatabaseOptions options;
  options.output_file = (folder / "it's.parquet").string();
  open({}, options);
  const auto answered = database_->run_to_parquet("select i, 'x' as t from range(100) t(i);", 0);
  ASSERT_TRUE(answered) << answered.status().message();
  EXPECT_EQ(answered->rows, 100U);
  EXPECT_EQ(cell_of("select count(*) from '" + (folder / "it''s.parquet").string() + "'"), "100");
  EXPECT_NE(error_of("copy (select 1) to '" + (folder / "other.parquet").string() + "'"), "");
  EXPECT_NE(error_of("from '/etc/passwd'"), "");
  EXPECT_FALSE(database_->run_to_parquet("select 1) to '/tmp/gpufl_no.csv' --", 0));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gpufl::sql
