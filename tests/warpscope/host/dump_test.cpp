// SPDX-License-Identifier: Apache-2.0
// Files that are no good dumps.
#include <gtest/gtest.h>
#include <warpscope_host.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

class DumpFile : public testing::Test {
 protected:
  ~DumpFile() override { std::remove(path_.c_str()); }
  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  const std::string path_ = testing::TempDir() + "warpscope_dump_test.bin";
};

TEST_F(DumpFile, AnUnreadableOneHasNoOtherProblem) {
  const ws::Trace trace = ws::decode_file("/nowhere/dump.bin");
  ASSERT_EQ(trace.problems.size(), 1U);
  EXPECT_EQ(trace.problems[0].kind, ws::ProblemKind::Unreadable);
}

TEST_F(DumpFile, OfLessThanAWordHasTheWrongSizeTwice) {
  write("abc");
  const ws::Trace trace = ws::decode_file(path_);
  ASSERT_EQ(trace.problems.size(), 1U);
  EXPECT_EQ(trace.problems[0].kind, ws::ProblemKind::WrongSize);
  EXPECT_EQ(trace.problems[0].count, 2U);
  EXPECT_NE(trace.problems[0].text.find("last 3 bytes"), std::string::npos);
}

TEST_F(DumpFile, OddBytesComeBeforeOtherProblems) {
  write(std::string(8, '\0') + "abc");
  const ws::Trace trace = ws::decode_file(path_);
  ASSERT_EQ(trace.problems.size(), 2U);
  EXPECT_EQ(trace.problems[0].kind, ws::ProblemKind::WrongSize);
  EXPECT_EQ(trace.problems[0].count, 1U);
  EXPECT_EQ(trace.problems[1].kind, ws::ProblemKind::MissingHeader);
}

TEST_F(DumpFile, OfMoreThanTheLimitIsNotRead) {
  write("");
  std::filesystem::resize_file(path_, ws::kMaxDumpBytes + 1);  // sparse
  const ws::Dump dump = ws::read_dump(path_);
  EXPECT_TRUE(dump.words.empty());
  EXPECT_EQ(dump.error, path_ + ": larger than 4 GiB, the most that is read");
}

}  // namespace
