// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analysis/compare/test_groups.hpp"

namespace gpufl::analysis::compare {
namespace {

using testing::GroupBuilder;
using testing::launch_key;

constexpr int64_t kBetween = 500;  // between the repeats of the other group

const Entry* find(const std::vector<Entry>& entries, const Key& key, Metric metric) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.key == key && entry.metric == metric;
  });
  return found == entries.end() ? nullptr : &*found;
}

bool has_warning(const Comparison& comparison, std::string_view part) {
  return std::any_of(comparison.warnings.begin(), comparison.warnings.end(),
                     [&](const std::string& w) { return w.find(part) != std::string::npos; });
}

TEST(ComparisonTest, GroupsThatAreAlikeHaveNoDifference) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, kBetween);
  a.kernel("gemm", 10'000).kernel("relu", 5'000).scope("step", 1'000'000);
  b.kernel("relu", 5'000).kernel("gemm", 10'000).scope("step", 1'000'000);
  const Comparison comparison = compare(a.get(), b.get());
  EXPECT_EQ(comparison.proof, Proof::Repeats);
  EXPECT_FALSE(comparison.has_difference());
  EXPECT_TRUE(comparison.findings.empty());
  EXPECT_TRUE(comparison.warnings.empty());
  ASSERT_EQ(comparison.totals.size(), 4u);
  // Two medians, one scope's median and busy time, three totals; counts are all the same.
  EXPECT_EQ(comparison.compared, 7u);
}

TEST(ComparisonTest, FindsWhatIsSlowerAndFaster) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, kBetween);
  a.kernel("gemm", 10'000).kernel("relu", 5'000).kernel("copy", 3'000);
  b.kernel("gemm", 10'700).kernel("relu", 4'500).kernel("copy", 3'000);
  const Comparison comparison = compare(a.get(), b.get());
  ASSERT_EQ(comparison.findings.size(), 2u);
  const Entry& gemm = comparison.findings[0];
  EXPECT_EQ(gemm.key, launch_key("gemm"));
  EXPECT_EQ(gemm.verdict, Verdict::Slower);
  EXPECT_NEAR(gemm.change.estimate, 0.07, 0.01);
  EXPECT_NEAR(gemm.impact_ns, 70'000, 8'000);
  EXPECT_EQ(comparison.findings[1].verdict, Verdict::Faster);
  EXPECT_LT(comparison.findings[1].impact_ns, 0);
}

TEST(ComparisonTest, FindsWhatAppearedVanishedAndIsLaunchedMoreOften) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, kBetween);
  a.kernel("gemm", 10'000).kernel("old", 5'000).kernel("often", 4'000, 100);
  b.kernel("gemm", 10'000).kernel("new", 5'000).kernel("often", 4'000, 150);
  const Comparison comparison = compare(a.get(), b.get());
  const Entry* appeared = find(comparison.findings, launch_key("new"), Metric::Count);
  ASSERT_NE(appeared, nullptr);
  EXPECT_EQ(appeared->verdict, Verdict::Appeared);
  EXPECT_EQ(appeared->a, 0);
  EXPECT_EQ(appeared->b, 100);
  EXPECT_TRUE(std::isinf(appeared->change.estimate));
  EXPECT_NEAR(appeared->impact_ns, 500'000, 10'000);
  const Entry* vanished = find(comparison.findings, launch_key("old"), Metric::Count);
  ASSERT_NE(vanished, nullptr);
  EXPECT_EQ(vanished->verdict, Verdict::Vanished);
  EXPECT_EQ(vanished->change.estimate, -1);
  const Entry* more = find(comparison.findings, launch_key("often"), Metric::Count);
  ASSERT_NE(more, nullptr);
  EXPECT_EQ(more->verdict, Verdict::More);
  EXPECT_NEAR(more->impact_ns, 200'000, 10'000);
  EXPECT_EQ(find(comparison.findings, launch_key("gemm"), Metric::Count), nullptr);
}

TEST(ComparisonTest, AKernelThatSomeRunsHaveIsNoFinding) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, kBetween);
  a.kernel("gemm", 10'000);
  b.kernel("gemm", 10'000).kernel("sometimes", 8'000);
  for (size_t i = 0; i < 7; ++i) b.get().repeats[i].items.erase(launch_key("sometimes"));
  const Comparison comparison = compare(a.get(), b.get());
  EXPECT_EQ(find(comparison.findings, launch_key("sometimes"), Metric::Count), nullptr);
}

TEST(ComparisonTest, TheSameKernelInTwoScopesIsTwoThings) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, kBetween);
  a.kernel("gemm", 10'000, 100, "forward").kernel("gemm", 10'000, 100, "backward");
  b.kernel("gemm", 10'000, 100, "forward").kernel("gemm", 12'000, 100, "backward");
  const Comparison comparison = compare(a.get(), b.get());
  ASSERT_EQ(comparison.findings.size(), 1u);
  EXPECT_NE(find(comparison.findings, launch_key("gemm", "backward"), Metric::Median), nullptr);
}

TEST(ComparisonTest, WhereOneSideHasNoScopesKernelsAreMatchedWithoutThem) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, kBetween);
  a.kernel("gemm", 10'000, 100).kernel("relu", 9'000, 100);
  b.kernel("gemm", 10'000, 40).kernel("gemm", 10'000, 60, "step");
  b.kernel("relu", 12'000, 100, "step").scope("step", 1e6).scope("short", 100);
  for (const bool is_swapped : {false, true}) {
    const Comparison comparison =
        is_swapped ? compare(b.get(), a.get()) : compare(a.get(), b.get());
    EXPECT_FALSE(comparison.are_scopes_compared);
    ASSERT_EQ(comparison.findings.size(), 1u);
    EXPECT_EQ(comparison.findings[0].key, launch_key("relu"));
    EXPECT_EQ(comparison.findings[0].metric, Metric::Median);
    const Entry* gemm = find(comparison.alike, launch_key("gemm"), Metric::Count);
    ASSERT_NE(gemm, nullptr);
    EXPECT_EQ(gemm->a, 100);
    EXPECT_EQ(gemm->b, 100);
    EXPECT_EQ(is_swapped ? comparison.scopes_a : comparison.scopes_b,
              std::vector<std::string>{"step"});
    EXPECT_TRUE((is_swapped ? comparison.scopes_b : comparison.scopes_a).empty());
  }
}

TEST(ComparisonTest, ScopesWithoutANameInCommonAreLeftOutToo) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, kBetween);
  a.kernel("gemm", 10'000, 100, "train > step").kernel("gemm", 10'000, 50);
  b.kernel("gemm", 10'000, 50, "fit > batch").kernel("gemm", 10'000, 100);
  EXPECT_FALSE(compare(a.get(), b.get()).are_scopes_compared);
  EXPECT_TRUE(compare(a.get(), b.get()).findings.empty());
  // One name in common, and how kernels are spread over scopes is compared.
  b.get().repeats[3].scope_names.insert("step");
  EXPECT_TRUE(compare(a.get(), b.get()).are_scopes_compared);
  EXPECT_FALSE(compare(a.get(), b.get()).findings.empty());
}

TEST(ComparisonTest, SmallChangesAndSmallKernelsDoNotMatter) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, kBetween);
  a.kernel("gemm", 100'000).kernel("tiny", 100);
  b.kernel("gemm", 100'000).kernel("tiny", 200);
  EXPECT_TRUE(compare(a.get(), b.get()).findings.empty());
  EXPECT_EQ(compare(a.get(), b.get()).left_out, 1u);
  EXPECT_EQ(compare(a.get(), b.get(), {0.01, 0}).findings.size(), 1u);
  b.kernel("gemm", 120'000);
  EXPECT_EQ(compare(a.get(), b.get(), {0.01, 0.005}).findings.size(), 1u);
  EXPECT_EQ(compare(a.get(), b.get(), {0.5, 0.005}).findings.size(), 0u);
}

TEST(ComparisonTest, WithoutRepeatsADifferenceIsShownButNotProven) {
  GroupBuilder a("A", 1);
  GroupBuilder b("B", 1);
  a.kernel("gemm", 10'000).kernel("relu", 5'000);
  b.kernel("gemm", 11'000).kernel("relu", 5'150);
  const Comparison comparison = compare(a.get(), b.get());
  EXPECT_EQ(comparison.proof, Proof::None);
  ASSERT_EQ(comparison.findings.size(), 1u);  // 3% is what runs differ by anyway
  EXPECT_FALSE(comparison.findings[0].change.has_interval());
}

TEST(ComparisonTest, FewRepeatsThatOverlapAreNoDifference) {
  GroupBuilder a("A", 3);
  GroupBuilder b("B", 3, kBetween);
  a.kernel("gemm", 10'000);
  b.kernel("gemm", 11'000);
  a.get().repeats[0].items[launch_key("gemm")][Metric::Median] = 12'000;
  EXPECT_TRUE(compare(a.get(), b.get()).findings.empty());
}

TEST(ComparisonTest, ADriftWithinOneSessionIsNoDifferenceOfItsHalves) {
  GroupBuilder a("first half", 10);
  GroupBuilder b("second half", 10, 100'000);
  a.kernel("gemm", 10'000);
  b.kernel("gemm", 10'000);
  a.get().is_of_one_session = b.get().is_of_one_session = true;
  const auto set = [](Group& group, double first, double step) {
    for (Repeat& repeat : group.repeats) {
      repeat.items[launch_key("gemm")][Metric::Median] = first;
      first += step;
    }
  };
  set(a.get(), 10'000, 50);
  set(b.get(), 10'500, 50);
  Comparison comparison = compare(a.get(), b.get());
  EXPECT_EQ(comparison.proof, Proof::Parts);
  EXPECT_TRUE(comparison.findings.empty());
  set(a.get(), 10'000, 1);
  set(b.get(), 10'500, 1);
  comparison = compare(a.get(), b.get());
  EXPECT_EQ(comparison.findings.size(), 1u);
}

TEST(ComparisonTest, SaysThatWarpscopeDroppedRecords) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("gemm", 10'000);
  b.kernel("gemm", 10'000);
  WarpFigures capture;
  capture.launch.dropped = 0;
  b.get().repeats[0].warps = {capture};
  EXPECT_TRUE(compare(a.get(), b.get()).warnings.empty());
  capture.launch.dropped = 3;
  b.get().repeats[1].warps = {capture};
  const Comparison comparison = compare(a.get(), b.get());
  ASSERT_EQ(comparison.warnings.size(), 1u);
  EXPECT_EQ(comparison.warnings[0],
            "In 1 of 10 repeats of B, warpscope dropped records: figures inside kernels may be too "
            "low");
}

TEST(ComparisonTest, SaysWhatStandsInTheWayLossesFirst) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 1'000'000);
  a.kernel("gemm", 10'000);
  b.kernel("gemm", 10'000);
  b.get().repeats[3].losses = {"s3: its ledger says that records are missing"};
  b.get().problems = {"/b/x: no manifest"};
  for (Repeat& repeat : b.get().repeats) {
    repeat.devices = {"NVIDIA A100"};
    repeat.engine = "Deep";
  }
  const Comparison comparison = compare(a.get(), b.get());
  ASSERT_EQ(comparison.warnings.size(), 5u);
  EXPECT_EQ(comparison.warnings[0],
            "1 of 10 repeats of B are incomplete (s3: its ledger says that records are missing)");
  EXPECT_EQ(comparison.warnings[1], "B cannot be read: /b/x: no manifest");
  EXPECT_EQ(comparison.warnings[2], "Different GPUs: NVIDIA H200 in A, NVIDIA A100 in B");
  EXPECT_EQ(comparison.warnings[3], "Different engines: Trace in A, Deep in B");
  EXPECT_TRUE(has_warning(comparison, "one after the other"));
}

TEST(ComparisonTest, ProgramsThatBothSidesHaveAreNotDifferent) {
  GroupBuilder a("A", 5);
  for (size_t i = 0; i < 5; ++i) a.get().repeats[i].app = "run" + std::to_string(i);
  EXPECT_FALSE(has_warning(compare(a.get(), a.get()), "Different programs"));
  GroupBuilder b("B", 5);
  for (Repeat& repeat : b.get().repeats) repeat.app = "other";
  EXPECT_TRUE(has_warning(compare(a.get(), b.get()),
                          "Different programs: run0, run1, run2 and 2 more in A, other in B"));
}

TEST(ComparisonTest, SumsAndCountsOfBudgetedSessionsAreLeftOut) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10);
  a.kernel("gemm", 10'000, 100).scope("step", 50'000);
  b.kernel("gemm", 11'000, 300).kernel("new", 10'000).scope("step", 50'000, 20);
  b.get().repeats[4].is_budgeted = true;
  const Comparison comparison = compare(a.get(), b.get());
  EXPECT_TRUE(has_warning(comparison, "1 of 10 repeats of B were traced in phases"));
  ASSERT_EQ(comparison.totals.size(), 1u);
  EXPECT_EQ(comparison.totals[0].metric, Metric::Time);
  // How long a launch takes and how often a scope was open are known all the same.
  ASSERT_EQ(comparison.findings.size(), 2u);
  for (const Entry& entry : comparison.findings) {
    const bool is_scope = entry.key.subject == Subject::Scope;
    EXPECT_EQ(entry.metric, is_scope ? Metric::Count : Metric::Median);
    EXPECT_EQ(entry.has_impact, is_scope);
  }
}

TEST(ComparisonTest, EmptyGroupsCompareToNothing) {
  const Comparison comparison = compare(Group{}, GroupBuilder("B", 10).kernel("k", 1).get());
  EXPECT_FALSE(comparison.has_difference());
  EXPECT_TRUE(comparison.totals.empty());
}

}  // namespace
}  // namespace gpufl::analysis::compare
