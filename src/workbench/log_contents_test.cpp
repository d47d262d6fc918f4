// SPDX-License-Identifier: Apache-2.0
#include "workbench/log_contents.hpp"

#include <gtest/gtest.h>

#include "format/test_session.hpp"

namespace gpufl::workbench {
namespace {

using format::testing::TempDir;

TEST(LogContentsTest, CountsWindowsAndKinds) {
  const TempDir temp;
  const auto dir = temp.path() / "session";
  auto log = format::testing::make_writer(format::testing::test_options(dir));
  log->write(format::testing::scope_rows(*log, 1, 5, 100));
  ASSERT_TRUE(log->flush(1000));
  const auto live = read_contents(dir);
  ASSERT_TRUE(live) << live.status().text();
  EXPECT_TRUE(live->is_live);
  EXPECT_EQ(live->kinds.at("scope"), 5u);
  EXPECT_EQ(to_string(live->windows.front().file.state), "live");

  ASSERT_TRUE(log->close(2000, {}));
  const auto sealed = read_contents(dir);
  ASSERT_TRUE(sealed) << sealed.status().text();
  EXPECT_FALSE(sealed->is_live);
  EXPECT_EQ(sealed->kinds.at("scope"), 5u);
  EXPECT_EQ(sealed->problems, 0u);
  uint64_t rows = 0;
  for (const WindowContents& window : sealed->windows) {
    EXPECT_EQ(to_string(window.file.state), "sealed");
    EXPECT_GT(window.lines, 0u);
    EXPECT_GT(window.bytes, 0u);
    rows += window.rows;
  }
  EXPECT_EQ(rows, 5u);
  EXPECT_EQ(sealed->to_json()["kinds"]["scope"].as_integer(), 5);
  EXPECT_EQ(read_contents(temp.path()).status().code(), base::Code::NotFound);
}

}  // namespace
}  // namespace gpufl::workbench
