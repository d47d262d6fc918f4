// SPDX-License-Identifier: Apache-2.0
// What stops a query in a program that goes on afterwards.
#include "workbench/query.hpp"

#include <atomic>

#include <gtest/gtest.h>

#include "format/test_session.hpp"
#include "sql/test_database.hpp"

namespace gpufl::workbench {
namespace {

using base::Code;
using base::Status;

constexpr const char* kLong = "select count(*) from range(1000000) a, range(1000000) b";
// Some seconds, in which DuckDB plans and looks at nothing.
constexpr const char* kLongPlan = "select levenshtein(repeat('a', 50000), repeat('b', 50000))";

class QueryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request_.library = sql::testing::test_library();
    if (request_.library.empty()) GTEST_SKIP() << "no libduckdb.so in " << GPUFL_TEST_DUCKDB;
    const auto writer =
        format::testing::make_writer(format::testing::test_options(folder_.path() / "session"));
    ASSERT_NE(writer, nullptr);
    ASSERT_TRUE(writer->close(1, {}));
    request_.path = folder_.path();
    request_.output = (folder_.path() / "answer.csv").string();
    request_.form = AnswerForm::Csv;
  }

  const format::testing::TempDir folder_;
  QueryRequest request_;
};

TEST_F(QueryTest, FailsWithWhatTheCheckSays) {
  std::atomic<int> looks = 0;
  request_.query = kLong;
  request_.check = [&looks] { return ++looks < 3 ? Status() : Status(Code::Cancelled, "enough"); };
  const auto outcome = query_sessions(request_);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.status().code(), Code::Cancelled);
  EXPECT_EQ(outcome.status().message(), "enough");
  EXPECT_FALSE(std::filesystem::exists(request_.output));
}

TEST_F(QueryTest, TellsThatDuckdbDoesNotListen) {
  std::atomic<int> told = 0;
  request_.query = kLongPlan;
  request_.on_deaf = [&told](const Status& why) {
    EXPECT_EQ(why.code(), Code::LimitReached);
    ++told;
  };
  // Where a busy machine has not begun to plan by then, DuckDB listens.
  for (int64_t timeout_ms = 20; told == 0 && timeout_ms < 2000; timeout_ms *= 4) {
    request_.timeout_ns = timeout_ms * 1'000'000;
    const auto outcome = query_sessions(request_);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.status().code(), Code::LimitReached);
  }
  EXPECT_GT(told, 0);
  EXPECT_FALSE(std::filesystem::exists(request_.output));
  // The next one is not stopped.
  request_.query = "select 42 as answer";
  request_.timeout_ns = 0;
  const auto next = query_sessions(request_);
  ASSERT_TRUE(next) << next.status().text();
  EXPECT_EQ(format::testing::read_text(request_.output), "answer\r\n42\r\n");
}

}  // namespace
}  // namespace gpufl::workbench
