// SPDX-License-Identifier: Apache-2.0
#include "workbench/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "format/test_session.hpp"

namespace gpufl::workbench {
namespace {

TEST(ReadRowsTest, OneLineARowUntilNobodyTakesMore) {
  const format::testing::TempDir temp;
  const auto dir = temp.path() / "session";
  auto log = format::testing::make_writer(format::testing::test_options(dir));
  constexpr int64_t kBatches = 20, kRows = 1000;
  for (int64_t i = 0; i < kBatches; ++i) {
    log->write(format::testing::scope_rows(*log, 1 + i * kRows, kRows, i * 20'000));
  }
  ASSERT_TRUE(log->close(1'000'000, {}));
  RowsRequest request;
  request.session = dir;
  request.kind = format::Kind::Scope;
  std::string all;
  size_t pieces = 0;
  const auto problems = read_rows(request, [&](std::string_view lines) {
    all += lines;
    ++pieces;
    return true;
  });
  ASSERT_TRUE(problems) << problems.status().text();
  EXPECT_EQ(*problems, 0u);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), kBatches * kRows);
  EXPECT_GT(pieces, 2u);

  size_t taken = 0;
  ASSERT_TRUE(read_rows(request, [&](std::string_view) { return ++taken < 2; }));
  EXPECT_EQ(taken, 2u);
}

TEST(ReadRowsTest, TheSessionIsOneLine) {
  const format::testing::TempDir temp;
  const auto dir = temp.path() / "session";
  auto log = format::testing::make_writer(format::testing::test_options(dir));
  log->write(format::testing::scope_rows(*log, 1, 5, 100));
  ASSERT_TRUE(log->close(2000, {}));
  RowsRequest request;
  request.session = dir;
  request.kind = format::Kind::Session;
  std::string all;
  ASSERT_TRUE(read_rows(request, [&](std::string_view lines) {
    all += lines;
    return true;
  }));
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 1);
}

}  // namespace
}  // namespace gpufl::workbench
