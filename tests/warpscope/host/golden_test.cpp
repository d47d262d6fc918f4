// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "tests/warpscope/host/golden.hpp"

namespace gpufl::warp_golden {
namespace {

constexpr uint64_t kMagic = 0x3250435350524157;

class GoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, DecodesToWhatIsWrittenDown) {
  const Golden golden = load(GetParam());
  ASSERT_EQ(golden.error, "");
  const base::Json wanted = expected(GetParam());
  EXPECT_EQ(shown(decode(golden), wanted).dump(), wanted.dump());
}

// Programs written for the 32-bit members see the same times in them.
TEST_P(GoldenTest, OldMembersAgreeWithTheNewOnes) {
  const ws::Trace trace = decode(load(GetParam()));
  for (const ws::Span& span : trace.spans) {
    EXPECT_EQ(span.begin_ns, static_cast<uint32_t>(span.start_ns));
    EXPECT_EQ(span.begin(), span.start_ns);
    EXPECT_EQ(span.duration(), span.duration_ns);
    EXPECT_LT(span.block, trace.num_blocks);
    EXPECT_LT(span.group, trace.num_groups);
  }
  for (const ws::Instant& instant : trace.instants) EXPECT_EQ(instant.time(), instant.time_ns);
}

// A file shows the same; a v1 region is a capture without a side block.
TEST_P(GoldenTest, SurvivesAFile) {
  const Golden golden = load(GetParam());
  const std::string path = testing::TempDir() + "warpscope_" + GetParam() + ".bin";
  ASSERT_TRUE(ws::write_dump(golden.words.data(), golden.words.size(), path));
  const base::Json wanted = expected(GetParam());
  EXPECT_EQ(shown(ws::decode_file(path, golden.options), wanted).dump(), wanted.dump());
  std::remove(path.c_str());
}

// Side block and extension words may lie anywhere, when the caller says where.
TEST_P(GoldenTest, PartsMayLieApart) {
  const Golden golden = load(GetParam());
  const ws::Trace whole = decode(golden);
  if (!whole.has_side_block) return;
  const auto at = std::find(golden.words.begin() + 1, golden.words.end(), kMagic);
  const std::vector<uint64_t> region(golden.words.begin(), at);
  const std::vector<uint64_t> side(at, at + static_cast<ptrdiff_t>(at[13] & 0xffffffff));
  const std::vector<uint64_t> extension(at + static_cast<ptrdiff_t>(side.size()),
                                        golden.words.end());
  ws::DecodeOptions options = golden.options;
  options.side = side.data();
  options.side_words = side.size();
  options.extension = extension.data();
  options.extension_words = extension.size();
  const base::Json wanted = expected(GetParam());
  EXPECT_EQ(shown(ws::decode(region, options), wanted).dump(), wanted.dump());
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTest, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

// Every kind of problem that words can have is in one of the files.
TEST(GoldenFiles, HaveEveryProblem) {
  std::set<ws::ProblemKind> seen;
  for (const std::string& name : names()) {
    for (const ws::Problem& problem : decode(load(name)).problems) seen.insert(problem.kind);
  }
  for (int kind = 1; kind <= static_cast<int>(ws::ProblemKind::UnknownFrequency); ++kind) {
    EXPECT_EQ(seen.count(static_cast<ws::ProblemKind>(kind)), 1U)
        << ws::problem_name(static_cast<ws::ProblemKind>(kind));
  }
}

}  // namespace
}  // namespace gpufl::warp_golden
