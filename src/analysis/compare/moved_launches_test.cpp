// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/moved_launches.hpp"

#include <gtest/gtest.h>

#include <string>

#include "analysis/compare/comparison.hpp"
#include "analysis/compare/test_groups.hpp"

namespace gpufl::analysis::compare {
namespace {

using testing::GroupBuilder;

constexpr int64_t kBetween = 500;  // between the repeats of the other group

Key launch(std::string config, std::string scope = "", std::string kernel = "gemm") {
  return {Subject::Launch, std::move(scope), std::move(kernel), std::move(config)};
}

// Adds a launch to every repeat that has the same time in each, more or less.
void add(GroupBuilder& builder, const Key& key, double median_ns, double count = 100) {
  builder.kernel("some", median_ns, count);
  for (Repeat& repeat : builder.get().repeats) {
    auto item = repeat.items.extract(testing::launch_key("some"));
    item.key() = key;
    repeat.items.insert(std::move(item));
  }
}

struct Sides {
  GroupBuilder a{"A", 10};
  GroupBuilder b{"B", 10, kBetween};
};

TEST(MovedLaunchesTest, AnotherConfigurationIsOneThingThatChanged) {
  Sides sides;
  add(sides.a, launch("grid 128", "step"), 10'000);
  add(sides.b, launch("grid 64", "step"), 10'000);
  const Comparison comparison = compare(sides.a.get(), sides.b.get());
  ASSERT_EQ(comparison.findings.size(), 1u);
  const Entry& entry = comparison.findings[0];
  EXPECT_EQ(entry.verdict, Verdict::Changed);
  EXPECT_EQ(entry.metric, Metric::Median);
  EXPECT_EQ(entry.launches_a, std::vector{launch("grid 128", "step")});
  EXPECT_EQ(entry.launches_b, std::vector{launch("grid 64", "step")});
  EXPECT_TRUE(comparison.has_difference());
}

TEST(MovedLaunchesTest, WhatChangedIsSlowerOrFasterAllTheSame) {
  Sides sides;
  add(sides.a, launch("grid 128"), 10'000);
  add(sides.b, launch("grid 64"), 12'000, 50);
  const Comparison comparison = compare(sides.a.get(), sides.b.get());
  ASSERT_EQ(comparison.findings.size(), 2u);
  EXPECT_EQ(comparison.findings[0].verdict, Verdict::Fewer);
  EXPECT_EQ(comparison.findings[1].verdict, Verdict::Slower);
  EXPECT_NEAR(comparison.findings[1].change.estimate, 0.2, 0.02);
}

TEST(MovedLaunchesTest, TheScopeStaysBeforeTheConfigurationDoes) {
  Sides sides;
  for (const std::string scope : {"forward", "backward"}) {
    add(sides.a, launch("grid 128", scope), 10'000);
    add(sides.b, launch("grid 64", scope), 10'000);
  }
  add(sides.a, launch("grid 1", "init"), 10'000);
  add(sides.b, launch("grid 1", "start"), 10'000);
  add(sides.a, launch("grid 7", "x"), 10'000);
  add(sides.b, launch("grid 8", "y"), 10'000);
  const std::vector<MovedLaunch> moved = match_moved_launches(sides.a.get(), sides.b.get());
  ASSERT_EQ(moved.size(), 4u);
  EXPECT_EQ(moved[0].a, std::vector{launch("grid 128", "backward")});
  EXPECT_EQ(moved[0].b, std::vector{launch("grid 64", "backward")});
  EXPECT_EQ(moved[1].a, std::vector{launch("grid 128", "forward")});
  EXPECT_EQ(moved[2].b, std::vector{launch("grid 1", "start")});
  EXPECT_EQ(moved[3].a, std::vector{launch("grid 7", "x")});
  EXPECT_EQ(moved[3].b, std::vector{launch("grid 8", "y")});
}

TEST(MovedLaunchesTest, LaunchesThatBothSidesHaveStayAsTheyAre) {
  Sides sides;
  add(sides.a, launch("grid 128"), 10'000);
  add(sides.b, launch("grid 128"), 10'000);
  add(sides.b, launch("grid 64"), 10'000);
  EXPECT_TRUE(match_moved_launches(sides.a.get(), sides.b.get()).empty());
  const Comparison comparison = compare(sides.a.get(), sides.b.get());
  ASSERT_EQ(comparison.findings.size(), 1u);
  EXPECT_EQ(comparison.findings[0].verdict, Verdict::Appeared);
  EXPECT_EQ(comparison.findings[0].key, launch("grid 64"));
}

TEST(MovedLaunchesTest, SeveralConfigurationsAreAddedUp) {
  Sides sides;
  add(sides.a, launch("grid 128"), 10'000, 100);
  add(sides.a, launch("grid 32"), 2'000, 300);
  add(sides.b, launch("grid 64"), 4'000, 400);
  const Comparison comparison = compare(sides.a.get(), sides.b.get());
  ASSERT_EQ(comparison.findings.size(), 1u);
  const Entry& entry = comparison.findings[0];
  EXPECT_EQ(entry.verdict, Verdict::Changed);
  EXPECT_EQ(entry.metric, Metric::Mean);  // a median of both is not known
  EXPECT_NEAR(entry.a, 4'000, 80);
  EXPECT_NEAR(entry.b, 4'000, 80);
  EXPECT_EQ(entry.launches_a.size(), 2u);
}

// As of kernels whose grid depends on the data.
TEST(MovedLaunchesTest, ConfigurationsOfEachRunAreNoDifference) {
  Sides sides;
  for (auto* builder : {&sides.a, &sides.b}) {
    add(*builder, launch("grid"), 10'000);
    for (Repeat& repeat : builder->get().repeats) {
      auto item = repeat.items.extract(launch("grid"));
      item.key().config = "grid of " + repeat.name;
      repeat.items.insert(std::move(item));
    }
  }
  const Comparison comparison = compare(sides.a.get(), sides.b.get());
  EXPECT_FALSE(comparison.has_difference());
  EXPECT_EQ(comparison.left_out, 0u);
}

}  // namespace
}  // namespace gpufl::analysis::compare
