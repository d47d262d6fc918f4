// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/sampled_code.hpp"

#include <gtest/gtest.h>

namespace gpufl::analysis {
namespace {

using disassembly::KernelCode;
using disassembly::kNoChain;

// A header's function, inlined at line 8 of the program's own; then line 9; then no line.
KernelCode test_code() {
  KernelCode code;
  code.name = "kernel";
  code.routines = {{"kernel", 0, 0x40}, {"$kernel$inner", 0x20, 0x20}};
  code.files = {"/home/me/k.cu", "/usr/local/cuda/include/fp16.hpp"};
  code.chains = {{{1, 566}, {0, 8}}, {{0, 9}}};
  const uint32_t chains[] = {0, 1, 1, kNoChain};
  for (uint32_t i = 0; i < 4; ++i) {
    code.instructions.push_back({i * 16, "I" + std::to_string(i), chains[i]});
  }
  return code;
}

KernelStalls stalls_at(const std::string& function, const std::map<int64_t, StallCounts>& by_pc) {
  KernelStalls stalls;
  stalls.function = function;
  stalls.by_pc = by_pc;
  return stalls;
}

TEST(SampledCodeTest, SamplesCountForInstructionsAndTheProgramsOwnLines) {
  const KernelCode code = test_code();
  const KernelStalls own = stalls_at("kernel", {{0, {{"wait", {5, 2}}}},
                                                {16, {{"wait", {1, 0}}, {"barrier", {3, 1}}}},
                                                {0x1000, {{"wait", {7, 0}}}}});
  // Offsets of a function within count from its own beginning.
  const KernelStalls inner = stalls_at("$kernel$inner", {{0, {{"barrier", {10, 0}}}}});
  const SampledCode joined = join_samples(code, {&own, &inner});
  EXPECT_EQ(joined.samples, 26u);
  EXPECT_EQ(joined.unlocated, 7u);
  EXPECT_EQ(joined.stalls.at("wait").samples, 13u);
  EXPECT_EQ(joined.stalls.at("wait").not_issued, 2u);
  EXPECT_EQ(joined.instructions[1].samples, 4u);
  EXPECT_EQ(joined.instructions[2].samples, 10u);
  ASSERT_EQ(joined.lines.size(), 3u);
  EXPECT_EQ(joined.lines[0].line, 9u);
  EXPECT_EQ(joined.lines[0].samples, 14u);
  EXPECT_EQ(joined.lines[0].instructions, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(joined.lines[1].file, "/home/me/k.cu");
  EXPECT_EQ(joined.lines[1].line, 8u);
  EXPECT_EQ(joined.lines[1].samples, 5u);
  EXPECT_EQ(joined.lines[2].file, "");
}

TEST(SampledCodeTest, WithoutSamplesLinesAreInTheSourcesOrder) {
  const SampledCode joined = join_samples(test_code(), {});
  EXPECT_EQ(joined.samples, 0u);
  ASSERT_EQ(joined.lines.size(), 3u);
  EXPECT_EQ(joined.lines[1].line, 8u);
  EXPECT_EQ(joined.lines[2].line, 9u);
}

TEST(SampledCodeTest, AChainOfLibrariesAloneShowsTheInnermost) {
  KernelCode code = test_code();
  code.chains.push_back({{1, 3}, {1, 4}});
  EXPECT_EQ(shown_place(code, code.chains.back()), (disassembly::SourcePlace{1, 3}));
}

}  // namespace
}  // namespace gpufl::analysis
