// SPDX-License-Identifier: Apache-2.0
#include "workbench/open.hpp"

#include <gtest/gtest.h>

#include "workbench/export_run.hpp"
#include "workbench/test_repeats.hpp"

namespace gpufl::workbench {
namespace {

namespace fs = std::filesystem;
using testing::TestRepeats;

TEST(OpenOneTest, IsOneSessionOrOneRun) {
  const TestRepeats repeats;
  const fs::path folder = repeats.group("a", 20'000, 2);
  const auto one = open_one(folder / "s0", {});
  ASSERT_TRUE(one) << one.status().text();
  EXPECT_EQ(one->data.sessions.size(), 1u);
  EXPECT_TRUE(one->is_whole);
  EXPECT_TRUE(one->notes.empty());
  const auto several = open_one(folder, {});
  EXPECT_EQ(several.status().code(), base::Code::InvalidArgument);
  EXPECT_NE(several.status().message().find("the newest is " + (folder / "s1").string()),
            std::string::npos)
      << several.status().message();
  EXPECT_EQ(open_one(repeats.path() / "none", {}).status().code(), base::Code::NotFound);
}

TEST(OpenOneTest, TellsOfCopiesAndDamage) {
  const TestRepeats repeats;
  const fs::path folder = repeats.group("a", 20'000, 1);
  fs::copy(folder / "s0", folder / "copy", fs::copy_options::recursive);
  const auto copied = open_one(folder, {});
  ASSERT_TRUE(copied) << copied.status().text();
  EXPECT_EQ(copied->data.sessions.size(), 1u);
  EXPECT_TRUE(copied->is_whole);
  EXPECT_EQ(copied->notes.size(), 1u);
  fs::resize_file(folder / "s0" / "device.1.log.zst", 100);
  const auto damaged = open_one(folder / "s0", {});
  ASSERT_TRUE(damaged) << damaged.status().text();
  EXPECT_FALSE(damaged->is_whole);
  ASSERT_EQ(damaged->notes.size(), 1u);
  EXPECT_NE(damaged->notes[0].find("200 of "), std::string::npos) << damaged->notes[0];
}

TEST(ExportRunTest, ToldHowFarItIsAndStopped) {
  const TestRepeats repeats;
  const auto run = open_one(repeats.group("a", 20'000, 1), {});
  ASSERT_TRUE(run) << run.status().text();
  ExportRequest request{exporting::Target::Json, repeats.path() / "out.json", false, {}};
  size_t calls = 0;
  request.progress = [&](Stage stage, uint64_t done, uint64_t total) {
    EXPECT_EQ(stage, Stage::Writing);
    EXPECT_LE(done, total);
    ++calls;
    return true;
  };
  const auto exported = export_run(run->data, request);
  ASSERT_TRUE(exported) << exported.status().text();
  EXPECT_EQ(exported->output, request.output);
  EXPECT_GT(calls, 10u);
  request.overwrite = true;
  request.progress = [](Stage, uint64_t, uint64_t) { return false; };
  EXPECT_EQ(export_run(run->data, request).status().code(), base::Code::Cancelled);
}

}  // namespace
}  // namespace gpufl::workbench
