// SPDX-License-Identifier: Apache-2.0
#include "symbols/source_lines.hpp"

#include <gtest/gtest.h>

#include "format/test_session.hpp"

namespace gpufl::symbols {
namespace {

namespace fs = std::filesystem;
using format::testing::TempDir;
using format::testing::write_text;

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

class SourceLinesTest : public ::testing::Test {
 protected:
  SourceLinesTest() { options_.context_lines = 2; }
  std::string write(const std::string& name, const std::string& text) {
    const fs::path file = dir_.path() / name;
    fs::create_directories(file.parent_path());
    write_text(file, text);
    return file.string();
  }
  SourceLines::Outcome collect(const std::vector<std::pair<std::string, int64_t>>& wanted) {
    SourceLines lines(options_);
    for (const auto& [file, line] : wanted) lines.want(file, line);
    return lines.collect();
  }

  TempDir dir_;
  SourceOptions options_;
};

TEST_F(SourceLinesTest, TakesLinesAround) {
  const std::string file = write("train.py", numbered_lines(30));
  const auto outcome = collect({{file, 10}, {file, 1}, {file, 30}});
  ASSERT_EQ(outcome.sources.size(), 3u);
  EXPECT_EQ(outcome.sources[0],
            (SourceText{file, "python", 1, false, {"line 1", "line 2", "line 3"}}));
  EXPECT_EQ(outcome.sources[1],
            (SourceText{
                file, "python", 8, false, {"line 8", "line 9", "line 10", "line 11", "line 12"}}));
  EXPECT_EQ(outcome.sources[2].first_line, 28);
  EXPECT_EQ(outcome.sources[2].lines.back(), "line 30");
}

TEST_F(SourceLinesTest, OverlappingLinesComeOnce) {
  const std::string file = write("a.cu", numbered_lines(30));
  const auto outcome = collect({{file, 10}, {file, 12}, {file, 15}});
  ASSERT_EQ(outcome.sources.size(), 1u);
  EXPECT_EQ(outcome.sources[0].language, "cuda");
  EXPECT_EQ(outcome.sources[0].first_line, 8);
  EXPECT_EQ(outcome.sources[0].lines.size(), 10u);
}

TEST_F(SourceLinesTest, SaysWhenTheTextIsNewer) {
  const std::string file = write("a.cpp", "x\n");
  options_.recorded_wall_ns = 1'000'000'000;
  EXPECT_TRUE(collect({{file, 1}}).sources.at(0).is_newer);
  options_.recorded_wall_ns = INT64_MAX;
  EXPECT_FALSE(collect({{file, 1}}).sources.at(0).is_newer);
}

TEST_F(SourceLinesTest, KeepsToItsLimit) {
  const std::string first = write("a.py", numbered_lines(5));
  const std::string second = write("b.py", numbered_lines(5));
  options_.max_bytes = 40;  // five lines of seven bytes
  const auto outcome = collect({{first, 3}, {second, 3}});
  ASSERT_EQ(outcome.sources.size(), 1u);
  EXPECT_EQ(outcome.sources[0].path, first);
  EXPECT_EQ(outcome.bytes, 35u);
  EXPECT_EQ(outcome.beyond, 1u);
}

TEST_F(SourceLinesTest, LeavesExcludedRootsAlone) {
  const std::string ours = write("ours/a.py", "x\n");
  const std::string theirs = write("theirs/a.py", "x\n");
  for (const char* slash : {"", "/"}) {
    options_.excluded_roots = {(dir_.path() / "theirs").string() + slash};
    const auto outcome =
        collect({{ours, 1}, {theirs, 1}, {(dir_.path() / "ours/../theirs/a.py").string(), 1}});
    ASSERT_EQ(outcome.sources.size(), 1u);
    EXPECT_EQ(outcome.sources[0].path, ours);
    EXPECT_EQ(outcome.excluded, 2u);
  }
}

TEST_F(SourceLinesTest, LooksBelowOtherRoots) {
  write("checkout/model/train.py", "x\n");
  options_.roots = {dir_.path() / "nothing", dir_.path() / "checkout"};
  for (const char* recorded :
       {"/home/me/model/train.py", "model/train.py", "/checkout/model/train.py"}) {
    const auto outcome = collect({{recorded, 1}});
    ASSERT_EQ(outcome.sources.size(), 1u) << recorded;
    EXPECT_EQ(outcome.sources[0].path, recorded);
  }
  EXPECT_EQ(collect({{"/home/me/other.py", 1}}).missing, 1u);
}

TEST_F(SourceLinesTest, ReadsNothingThatIsNoSource) {
  const std::string secret = write("secret", "key\n");
  const std::string binary = write("binary.py", std::string("a\0b\n", 4));
  fs::create_directories(dir_.path() / "folder.py");
  const auto outcome = collect({{secret, 1},
                                {binary, 1},
                                {(dir_.path() / "folder.py").string(), 1},
                                {"/etc/passwd", 1},
                                {"<string>", 1}});
  EXPECT_TRUE(outcome.sources.empty());
  EXPECT_EQ(outcome.missing, 5u);
}

TEST_F(SourceLinesTest, ALineBeyondTheEndIsOfAnotherText) {
  const std::string file = write("a.py", "x\n");
  EXPECT_TRUE(collect({{file, 2}}).sources.empty());
  options_.enabled = false;
  EXPECT_TRUE(collect({{file, 1}}).sources.empty());
}

}  // namespace
}  // namespace gpufl::symbols
