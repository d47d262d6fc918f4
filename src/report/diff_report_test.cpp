// SPDX-License-Identifier: Apache-2.0
#include "report/diff_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "analysis/compare/test_groups.hpp"
#include "base/json.hpp"

namespace gpufl::report {
namespace {

using analysis::compare::Comparison;
using analysis::compare::Metric;
using analysis::compare::testing::GroupBuilder;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Comparison different() {
  GroupBuilder a("runs/main", 10);
  GroupBuilder b("runs/pr", 10, 500);
  a.kernel("void ns::gemm<float>(float*)", 10'000, 100, "train > step").kernel("old", 5'000);
  b.kernel("void ns::gemm<float>(float*)", 10'800, 100, "train > step").kernel("new", 5'000);
  return compare(a.get(), b.get());
}

TEST(DiffTextTest, SaysWhatDiffersMostTimeFirst) {
  TextOptions wide;
  wide.width = 140;
  const std::string text = diff_text(different(), wide);
  EXPECT_TRUE(has(text, "Comparison: different: 1 slower, 1 appeared, 1 vanished")) << text;
  EXPECT_TRUE(has(text, "runs/main (10 repeats, NVIDIA H200)")) << text;
  EXPECT_TRUE(has(text, "GPU busy time")) << text;
  EXPECT_TRUE(has(text, "gemm in train > step, grid 128x1x1")) << text;
  EXPECT_LT(text.find("appeared  "), text.find("slower  ")) << text;
}

TEST(DiffTextTest, SaysNoDifferenceWhereThereIsNone) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  TextOptions wide;
  wide.width = 240;
  const std::string text =
      diff_text(compare(a.kernel("k", 9'000).get(), b.kernel("k", 9'000).get()), wide);
  EXPECT_TRUE(has(text, "Comparison: no difference\n")) << text;
  EXPECT_TRUE(has(text, "Differences below 1.0% are not shown.")) << text;
  EXPECT_FALSE(has(text, "Kernels and scopes")) << text;
  EXPECT_TRUE(has(text, "a difference of about 1.5% or more")) << text;
}

// Ten repeats whose kernel takes twice as long in every other one.
analysis::compare::Group noisy(std::string label, int64_t start_wall_ns) {
  GroupBuilder builder(std::move(label), 10, start_wall_ns);
  builder.kernel("k", 9'000);
  for (size_t i = 0; i < 10; i += 2) {
    for (auto& [key, item] : builder.get().repeats[i].items) {
      for (const auto metric : {Metric::Median, Metric::Busy, Metric::Total}) {
        if (item[metric]) *item[metric] *= 2;
      }
    }
  }
  return builder.get();
}

TEST(DiffTextTest, DoesNotCallNoiseNoDifference) {
  const Comparison comparison = compare(noisy("A", 0), noisy("B", 500));
  const std::string text = diff_text(comparison);
  EXPECT_TRUE(has(text, "Comparison: too noisy: GPU busy time between -")) << text;
  EXPECT_TRUE(has(text, "alike; 1 too noisy: a change of 10.0%")) << text;
  EXPECT_FALSE(comparison.has_difference());
  EXPECT_TRUE(has(diff_json(comparison), "\"too_noisy\""));
}

// Of groups whose kernels are alike, but every other session has `times` as much of a metric.
std::string text_of_noisy_sessions(std::initializer_list<std::pair<Metric, double>> times) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  for (GroupBuilder* side : {&a, &b}) {
    side->kernel("k", 9'000);
    for (size_t i = 0; i < 10; i += 2) {
      for (const auto& [metric, factor] : times) {
        *side->get().repeats[i].items[{}][metric] *= factor;
      }
    }
  }
  return diff_text(compare(a.get(), b.get()));
}

TEST(DiffTextTest, SaysThatOnlyTheTimeOfTheSessionIsNoisy) {
  const std::string text = text_of_noisy_sessions({{Metric::Time, 2}});
  EXPECT_TRUE(has(text, "Comparison: GPU time alike; session time too noisy: between -")) << text;
}

// Kernels of the same busy time that overlap more or less.
TEST(DiffTextTest, DoesNotCallKernelTimeAlikeWhereItIsNoisy) {
  const std::string text = text_of_noisy_sessions({{Metric::Total, 2}, {Metric::Time, 8}});
  EXPECT_TRUE(has(text, "Comparison: GPU busy time alike; kernel time too noisy: between -"))
      << text;
}

TEST(DiffTextTest, SaysNothingOfTheGpuWhereItDidNothing) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  for (GroupBuilder* side : {&a, &b}) {
    for (size_t i = 0; i < 10; ++i) {
      side->get().repeats[i].items[{}][Metric::Time] = i % 2 == 0 ? 1e6 : 2e6;
    }
  }
  const std::string text = diff_text(compare(a.get(), b.get()));
  EXPECT_TRUE(has(text, "Comparison: too noisy: session time between -")) << text;
  EXPECT_TRUE(has(text, "1 figure was compared")) << text;
}

TEST(DiffTextTest, WorkThatWasNotRecordedHasNotVanished) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  a.kernel("k", 9'000).scope("step", 1e5);
  b.scope("step", 1e5);
  for (auto& repeat : b.get().repeats) {
    repeat.items[{}][Metric::Time] = 1.8e6;
    repeat.without_gpu_work = {"the engine Monitor records no GPU work"};
  }
  const Comparison comparison = compare(a.get(), b.get());
  TextOptions wide;
  wide.width = 140;
  const std::string text = diff_text(comparison, wide);
  EXPECT_TRUE(has(text, "Comparison: no difference; GPU work of B not known, so not compared\n"))
      << text;
  EXPECT_TRUE(has(text, "! GPU work of 10 of 10 repeats of B is not known: the engine Monitor"))
      << text;
  EXPECT_FALSE(has(text, "vanished")) << text;
  EXPECT_FALSE(has(text, "left out")) << text;
  const auto json = base::Json::parse(diff_json(comparison));
  EXPECT_TRUE((*json)["a"]["records_gpu_work"].as_bool());
  EXPECT_FALSE((*json)["b"]["records_gpu_work"].as_bool());
}

// The others are enough for a proof.
TEST(DiffTextTest, RepeatsWithoutGpuWorkDoNotCountAsZero) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 6, 500);
  GroupBuilder monitored("B", 4, 6'500);
  a.kernel("k", 9'000);
  b.kernel("k", 9'000);
  for (auto& repeat : monitored.get().repeats) {
    repeat.without_gpu_work = {"the engine Monitor records no GPU work"};
    b.get().repeats.push_back(repeat);
  }
  const std::string text = diff_text(compare(a.get(), b.get()));
  EXPECT_TRUE(has(text, "Comparison: no difference\n")) << text;
  EXPECT_TRUE(has(text, "! GPU work of 4 of 10 repeats of B is not known")) << text;
}

TEST(DiffTextTest, SaysThatTheHalvesOfASessionDrift) {
  GroupBuilder a("first half", 10);
  GroupBuilder b("second half", 10, 100'000);
  double value = 1e6;
  for (GroupBuilder* side : {&a, &b}) {
    side->kernel("k", 9'000);
    side->get().is_of_one_session = true;
    side->get().parts = "Cut.";
    for (auto& repeat : side->get().repeats) {
      repeat.items[{}][Metric::Busy] = value;
      value += 20'000;
    }
  }
  const std::string text = diff_text(compare(a.get(), b.get()));
  EXPECT_TRUE(has(text, "Comparison: drifts: GPU busy time between +")) << text;
}

TEST(DiffTextTest, NoiseBelowWhatMattersIsNone) {
  analysis::compare::CompareOptions options;
  options.min_change = 5;
  const std::string text = diff_text(compare(noisy("A", 0), noisy("B", 500), options));
  EXPECT_TRUE(has(text, "Comparison: no difference\n")) << text;
}

TEST(DiffTextTest, SaysThatOneRunProvesNothingAndWarnsFirst) {
  GroupBuilder a("A", 1);
  GroupBuilder b("B", 1);
  a.kernel("k", 9'000);
  b.kernel("k", 12'000);
  b.get().repeats[0].losses = {"b0: it was cut off"};
  const std::string text = diff_text(compare(a.get(), b.get()));
  EXPECT_TRUE(has(text, "Comparison: too few repeats to be sure, but different: 1 slower")) << text;
  EXPECT_TRUE(has(text, "Too few repeats")) << text;
  EXPECT_TRUE(has(text, "Times are shown if\n  they differ by 5.0% or more")) << text;
  EXPECT_FALSE(has(text, "interval")) << text;
  EXPECT_LT(text.find("! 1 of 1 repeats of B are incomplete"), text.find("Totals")) << text;
}

TEST(DiffTextTest, ShowsAsManyAsAskedFor) {
  TextOptions options;
  options.top = 1;
  EXPECT_TRUE(has(diff_text(different(), options), "2 more findings")) << diff_text(different());
}

// A hundred steps and a hundred and twenty of the same.
Comparison of_more_steps() {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  return compare(a.kernel("k", 9'000, 100).iterations(100).get(),
                 b.kernel("k", 9'000, 120).iterations(120).get());
}

TEST(DiffTextTest, SaysThatItComparesPerIteration) {
  const std::string text = diff_text(of_more_steps());
  EXPECT_TRUE(has(text, "Comparison: no difference\n")) << text;
  EXPECT_TRUE(has(text, "Per iteration: 100 iterations in A, 120 in B (scopes: step).")) << text;
  EXPECT_TRUE(has(text, "Totals: per iteration\n")) << text;
  EXPECT_FALSE(has(text, "session time")) << text;
}

TEST(DiffTextTest, SaysWhatChangedOfALaunch) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  a.kernel("moved", 9'000, 100, "forward").kernel("split", 9'000, 100, "one");
  b.kernel("moved", 9'000, 100, "train > forward");
  b.kernel("split", 9'000, 50, "two").kernel("split", 9'000, 50, "three");
  TextOptions wide;
  wide.width = 160;
  const std::string text = diff_text(compare(a.get(), b.get()), wide);
  EXPECT_TRUE(has(text, "Comparison: different: 2 launched differently\n")) << text;
  EXPECT_TRUE(has(text, "\n  moved, grid 128x1x1, block 256x1x1: forward -> train > forward\n"))
      << text;
  EXPECT_TRUE(has(text, "\n  split, grid 128x1x1, block 256x1x1: one -> 2 scopes\n")) << text;
}

// As fast as before, so that they are no differences in time.
TEST(DiffTextTest, ListsWhatIsOnlyLaunchedDifferentlyApart) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  for (const char* name : {"one", "two", "three"}) {
    a.kernel(name, 9'000, 100, "train > old");
    b.kernel(name, 9'000, 100, "train > new");
  }
  TextOptions options;
  options.width = 160;
  options.top = 2;
  const std::string text = diff_text(compare(a.get(), b.get()), options);
  EXPECT_FALSE(has(text, "Kernels and scopes")) << text;
  EXPECT_TRUE(has(text, "Launched differently: 3 kernels\n")) << text;
  EXPECT_TRUE(has(text, "\n  ... 1 more\n")) << text;
}

TEST(DiffTextTest, SaysOnceThatOnlyOneSideHasScopes) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  a.kernel("k", 9'000);
  b.kernel("k", 9'000, 100, "step").scope("step", 1e5);
  const Comparison comparison = compare(a.get(), b.get());
  const std::string text = diff_text(comparison);
  EXPECT_TRUE(has(text, "Comparison: no difference\n")) << text;
  EXPECT_TRUE(has(text, "\nScopes: B has scopes, A has none\n  step\n  Kernels are compared what"))
      << text;
  EXPECT_FALSE(has(text, "Launched differently")) << text;
  EXPECT_FALSE(has(text, "appeared")) << text;
  EXPECT_FALSE(comparison.has_difference());
  const auto json = base::Json::parse(diff_json(comparison));
  ASSERT_EQ((*json)["scopes_apart"]["b"].items().size(), 1u);
  EXPECT_EQ((*json)["scopes_apart"]["b"].items()[0].as_string(), "step");
  EXPECT_TRUE((*json)["scopes_apart"]["a"].items().empty());
  EXPECT_TRUE((*json)["scopes_apart"]["has_scopes_b"].as_bool());
  EXPECT_FALSE((*json)["scopes_apart"]["has_scopes_a"].as_bool());
  EXPECT_FALSE(has(diff_json(different()), "scopes_apart"));
}

TEST(DiffTextTest, TellsSidesWithoutScopesFromThoseWithShortOnes) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  a.kernel("k", 9'000, 100, "blink").scope("blink", 1);
  b.kernel("k", 9'000, 100, "step").scope("step", 1e5);
  const auto json = base::Json::parse(diff_json(compare(a.get(), b.get())));
  const base::Json& apart = (*json)["scopes_apart"];
  EXPECT_TRUE(apart["a"].items().empty());
  EXPECT_TRUE(apart["has_scopes_a"].as_bool());
  EXPECT_TRUE(apart["has_scopes_b"].as_bool());
}

TEST(DiffTextTest, SaysThatScopesHaveNoNameInCommon) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  a.kernel("k", 9'000, 100, "old").scope("old", 1e5);
  b.kernel("k", 9'000, 100, "new").scope("new", 1e5);
  const std::string text = diff_text(compare(a.get(), b.get()));
  EXPECT_TRUE(has(text, "\nScopes: A and B have no name in common\n  A: old\n  B: new\n")) << text;
  EXPECT_FALSE(has(text, "Launched differently")) << text;
}

// As of a trace that was imported.
TEST(DiffTextTest, DoesNotShowSharedMemoryThatOneSideDoesNotKnow) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  a.kernel("k", 9'000);
  b.kernel("k", 9'000);
  for (auto& repeat : b.get().repeats) {
    auto launch = repeat.items.extract(analysis::compare::testing::launch_key("k"));
    launch.key().config += ", 64 B shared";
    repeat.items.insert(std::move(launch));
  }
  EXPECT_TRUE(has(diff_text(compare(a.get(), b.get())), "64 B shared"));
  for (auto& repeat : a.get().repeats) repeat.unknown_shared.insert("k");
  const std::string text = diff_text(compare(a.get(), b.get()));
  EXPECT_TRUE(has(text, "Comparison: no difference\n")) << text;
  EXPECT_FALSE(has(text, "shared")) << text;
}

TEST(DiffTextTest, KernelsThatDifferLookDifferent) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  a.kernel("void copy<float, 3>(float*)", 9'000);
  b.kernel("void copy<float, 4>(float*)", 9'000);
  const std::string text = diff_text(compare(a.get(), b.get()));
  EXPECT_TRUE(has(text, "copy [3]")) << text;
  EXPECT_TRUE(has(text, "copy [4]")) << text;
}

TEST(DiffTextTest, HandlesEmptyGroups) {
  EXPECT_TRUE(has(diff_text(Comparison{}), "nothing to compare"));
}

TEST(DiffMarkdownTest, HasTablesAndNoMarkupFromNames) {
  GroupBuilder a("a|b", 10);
  GroupBuilder b("*B*", 10, 500);
  const std::string text =
      diff_markdown(compare(a.kernel("k|<b>", 9'000).get(), b.kernel("other", 9'000).get()));
  EXPECT_TRUE(has(text, "a\\|b")) << text;
  EXPECT_TRUE(has(text, "\\*B\\*")) << text;
  EXPECT_FALSE(has(text, "k|")) << text;
  EXPECT_TRUE(has(text, "| GPU busy time |")) << text;
}

TEST(DiffJsonTest, HoldsEverything) {
  const auto json = base::Json::parse(diff_json(different()));
  ASSERT_TRUE(json.is_ok()) << json.status().text();
  EXPECT_TRUE((*json)["has_difference"].as_bool());
  EXPECT_EQ((*json)["proof"].as_string(), "repeats");
  ASSERT_EQ((*json)["findings"].items().size(), 3u);
  EXPECT_EQ((*json)["totals"].items().size(), 4u);
  const auto& findings = (*json)["findings"].items();
  const auto slower = std::find_if(findings.begin(), findings.end(), [](const base::Json& entry) {
    return entry["verdict"].as_string() == "slower";
  });
  ASSERT_NE(slower, findings.end());
  EXPECT_EQ((*slower)["kernel"].as_string(), "void ns::gemm<float>(float*)");
  EXPECT_EQ((*slower)["scope"].as_string(), "train > step");
  EXPECT_NEAR((*slower)["change"].as_number(), 0.08, 0.01);
  EXPECT_GT((*slower)["low"].as_number(), 0);
}

TEST(DiffJsonTest, HasTheIterationsThatItIsPerOneOf) {
  const auto json = base::Json::parse(diff_json(of_more_steps()));
  ASSERT_TRUE(json.is_ok()) << json.status().text();
  const base::Json& per_iteration = (*json)["per_iteration"];
  EXPECT_EQ(per_iteration["a"]["found"].as_string(), "scopes: step");
  EXPECT_EQ(per_iteration["a"]["fewest"].as_integer(), 100);
  EXPECT_EQ(per_iteration["b"]["most"].as_integer(), 120);
  EXPECT_TRUE((*base::Json::parse(diff_json(different())))["per_iteration"].is_null());
}

TEST(DiffJsonTest, HasTheLaunchesOfWhatChanged) {
  GroupBuilder a("A", 10);
  GroupBuilder b("B", 10, 500);
  const auto json = base::Json::parse(diff_json(compare(
      a.kernel("k", 9'000, 100, "run > old").get(), b.kernel("k", 9'000, 100, "run").get())));
  ASSERT_TRUE(json.is_ok()) << json.status().text();
  ASSERT_EQ((*json)["findings"].items().size(), 1u);
  const base::Json& entry = (*json)["findings"].items()[0];
  EXPECT_EQ(entry["subject"].as_string(), "kernel");
  EXPECT_EQ(entry["verdict"].as_string(), "changed");
  EXPECT_EQ(entry["launches_a"].items()[0]["scope"].as_string(), "run > old");
  EXPECT_EQ(entry["launches_b"].items()[0]["scope"].as_string(), "run");
}

}  // namespace
}  // namespace gpufl::report
