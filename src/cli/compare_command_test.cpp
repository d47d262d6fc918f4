// SPDX-License-Identifier: Apache-2.0
// `gpufl diff` and `gpufl gate` as they are typed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_codes.hpp"
#include "cli/test_command.hpp"
#include "workbench/test_repeats.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using workbench::testing::TestRepeats;

int gate_of(std::vector<std::string> words) {
  words.insert(words.begin(), "gate");
  return testing::run_words(std::move(words)).exit_code;
}

TEST(CompareCommandTest, AnswersWithItsExitCode) {
  const TestRepeats repeats;
  const std::string base = repeats.group("base", 20'000, 6).string();
  const std::string slower = repeats.group("slower", 22'000, 6).string();
  const std::string few = repeats.group("few", 22'000, 3).string();
  const std::string nothing = (repeats.path() / "nothing").string();
  for (const auto& [judged, answer] :
       {std::pair(base, kExitGood), std::pair(slower, kExitNo), std::pair(few, kExitCannotTell),
        std::pair(nothing, kExitCannotTell)}) {
    EXPECT_EQ(gate_of({judged, "-b", base, "--kernel", "gemm"}), answer) << judged;
  }
  const auto differing = testing::run_words({"diff", base, slower});
  EXPECT_EQ(differing.exit_code, kExitGood) << differing.err;
  EXPECT_NE(differing.out.find("different: 1 slower"), std::string::npos) << differing.out;
  const auto missing = testing::run_words({"diff", base, nothing});
  EXPECT_EQ(missing.exit_code, kExitCannotTell);
  EXPECT_EQ(missing.err, "gpufl diff: " + nothing + ": there is no such file or folder\n");
  const auto one_side = testing::run_words({"diff", base});
  EXPECT_EQ(one_side.exit_code, kExitUsage);
  EXPECT_NE(one_side.err.find("name two sessions or folders: gpufl diff A B"), std::string::npos);
}

TEST(CompareCommandTest, SaysThatASessionIsComparedWithItself) {
  const TestRepeats repeats;
  const std::string one = repeats.group("one", 20'000, 1).string();
  const std::string some = repeats.group("some", 20'000, 2).string();
  EXPECT_NE(testing::run_words({"diff", one, one}).out.find("! Both sides are the same session\n"),
            std::string::npos);
  EXPECT_NE(testing::run_words({"diff", some, some}).out.find("are the same sessions\n"),
            std::string::npos);
}

TEST(CompareCommandTest, GateTakesItsWordsInAnyOrder) {
  const TestRepeats repeats;
  const std::string base = repeats.group("base", 20'000, 6).string();
  const std::string alike = repeats.group("alike", 20'000, 6).string();
  const std::string slower = repeats.group("slower", 22'000, 6).string();
  const std::string out = (repeats.path() / "gate.txt").string();
  for (const auto& [judged, answer] : {std::pair(alike, kExitGood), std::pair(slower, kExitNo)}) {
    EXPECT_EQ(gate_of({"--baseline", base, judged, "--kernel", "gemm", "-o", out}), answer);
    EXPECT_EQ(gate_of({judged, "--baseline", base, "--kernel", "gemm", "-o", out}), answer);
    EXPECT_EQ(gate_of({"--kernel", "gemm", "--baseline", base, judged, "-o", out}), answer);
    EXPECT_EQ(gate_of({"-o", out, "--kernel", "gemm", "-b", base, judged}), answer);
    EXPECT_EQ(gate_of({"--baseline=" + base, judged, "--total", "-o", out}), answer);
    EXPECT_EQ(gate_of({"-b", base, judged, judged, "-b", base, "-o", out}), answer);
  }
}

TEST(CompareCommandTest, NothingIsWrittenIntoASession) {
  const TestRepeats repeats;
  const std::string base = repeats.group("base", 20'000, 6).string();
  const fs::path manifest = repeats.path() / "base" / "s0" / "manifest.ndjson";
  ASSERT_TRUE(fs::exists(manifest));
  const auto size = fs::file_size(manifest);
  EXPECT_EQ(gate_of({"-b", base, base, "-o", manifest.string()}), kExitCannotTell);
  EXPECT_EQ(fs::file_size(manifest), size);
  EXPECT_EQ(gate_of({"-b", base, base, "-o", (manifest.parent_path() / "new").string()}),
            kExitCannotTell);
  EXPECT_FALSE(fs::exists(manifest.parent_path() / "new"));
  // An earlier answer is replaced.
  const std::string out = (repeats.path() / "gate.txt").string();
  EXPECT_EQ(gate_of({"-b", base, base, "-o", out}), kExitGood);
  EXPECT_EQ(gate_of({"-b", base, base, "-o", out, "--format", "json"}), kExitGood);
  std::ifstream file(out);
  EXPECT_EQ(file.get(), '{');
}

}  // namespace
}  // namespace gpufl::cli
