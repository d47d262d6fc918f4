// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/rules.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/insights/test_program.hpp"

namespace gpufl::analysis::testing {
namespace {

const std::filesystem::path kPages = GPUFL_INSIGHT_PAGES;

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Rules, EveryRuleHasItsPageAndEveryPageItsRule) {
  std::set<std::string> words, pages;
  const std::string index = read(kPages.parent_path() / "insights.md");
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(words.emplace(rule.word).second) << rule.word;
    EXPECT_NE(index.find(fmt::format("(insights/{}.md)", rule.word)), std::string::npos)
        << rule.word << " is not in the index";
    const std::string page = read(kPages / fmt::format("{}.md", rule.word));
    EXPECT_NE(page.find(to_string(rule.category)), std::string::npos) << rule.word;
    for (const char* heading : {"## What it means", "## How it is found", "## How the gain is",
                                "## What to do", "## Example"}) {
      EXPECT_NE(page.find(heading), std::string::npos) << rule.word << ": " << heading;
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(kPages)) {
    pages.insert(entry.path().stem().string());
  }
  EXPECT_EQ(words, pages);
}

TEST(Rules, EveryThresholdIsOnThePageOfItsRuleWithItsDefault) {
  Thresholds defaults;
  for (const ThresholdName& threshold : threshold_names()) {
    const std::string_view rule = threshold.name.substr(0, threshold.name.find('.'));
    const std::string page = rule == "insights" ? read(kPages.parent_path() / "insights.md")
                                                : read(kPages / fmt::format("{}.md", rule));
    EXPECT_NE(page.find(fmt::format("| `{}` | {} |", threshold.name, threshold.value(defaults))),
              std::string::npos)
        << threshold.name;
  }
}

TEST(Rules, NothingIsFoundInNothing) {
  TestProgram program;
  EXPECT_TRUE(program.insights().empty());
}

TEST(Rules, WhatIsWrongComesBeforeWhatIsSlow) {
  TestProgram program;
  program.kernel("step", 0, kMs, {.api_start = -kMs});
  program.kernel("step", 9 * kMs, kMs, {.api_start = 9 * kMs - 5 * kUs});
  program.wait(3, 0, 8 * kMs, {.stack = program.line("/home/me/a.py", 1, "f")});
  const auto found = program.insights();
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[0].rule, "sync_attribution");  // 80 % of the session, and no gain
  EXPECT_FALSE(found[0].gain_ns);
  EXPECT_EQ(found[1].rule, "idle_gaps");
}

TEST(Rules, TheFirstOfEachCategoryIsAmongThoseShown) {
  TestProgram program;
  for (int device = 0; device < 5; ++device) {  // a pause of each
    for (const int64_t start : {int64_t{0}, 3 * kMs}) {
      program.kernel("step", start, kMs, {.device = device, .api_start = start - 5 * kUs});
    }
  }
  program.api_call("cudaMalloc", 0, kUs, 2, "cudaErrorMemoryAllocation");
  SessionData session = program.finish();
  session.code = program.code();
  AnalysisOptions options;
  options.top = 2;
  const auto found = find_insights(session, analyze(session, options));
  ASSERT_GT(found.size(), 3u);
  EXPECT_EQ(found[0].rule, "idle_gaps");
  EXPECT_EQ(found[1].rule, "failed_calls");
  EXPECT_EQ(found[2].rule, "idle_gaps");
}

TEST(Rules, ThoseThatSaveMostComeFirst) {
  TestProgram program;
  program.kernel("step", 0, kMs, {.api_start = -kMs});
  program.kernel("step", 2 * kMs, kMs, {.api_start = 2 * kMs - 5 * kUs});
  program.copy(1, 1 << 20, 3 * kMs, 500 * kUs, {.api_start = 3 * kMs});
  program.api_call("cudaMalloc", 0, kUs, 2, "cudaErrorMemoryAllocation");
  const auto found = program.insights();
  ASSERT_GE(found.size(), 3u);
  EXPECT_EQ(found.front().rule, "idle_gaps");
  EXPECT_EQ(found.back().rule, "failed_calls");
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(), [](const Insight& a, const Insight& b) {
    return a.gain_ns.value_or(0) > b.gain_ns.value_or(0);
  }));
}

TEST(Rules, NoMoreThanAFewOfEach) {
  TestProgram program;
  for (int i = 0; i < 9; ++i) {
    program.wait(3, i * kMs, (i + 1) * kUs, {.stack = program.line("/home/me/a.py", i + 1, "f")});
  }
  Thresholds thresholds;
  thresholds.insights.max_per_rule = 2;
  const auto found = of_rule(program.insights(thresholds), "sync_attribution");
  ASSERT_EQ(found.size(), 3u);  // and one that says how many more there are
  EXPECT_EQ(found[0].evidence.at(0).line, 9);
  EXPECT_EQ(found[1].evidence.at(0).line, 8);
  EXPECT_EQ(found[2].title, "Waits × 7 at 7 more lines · 28.0us (0.3% of session)");
  EXPECT_EQ(found[2].evidence.at(0).line, 7);
}

TEST(Rules, OptionsChooseWhatIsLookedAt) {
  TestProgram program;
  program.wait(3, 0, kMs, {.device = 0, .stack = program.line("/home/me/a.py", 1, "f")});
  program.wait(3, 0, kMs, {.device = 1, .stack = program.line("/home/me/a.py", 2, "f")});
  SessionData session = program.finish();
  session.code = program.code();
  AnalysisOptions options;
  options.device = 1;
  const auto found = of_rule(find_insights(session, analyze(session, options)), "sync_attribution");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].evidence.at(0).line, 2);
}

// The steps of a GPT on an H200, recorded by PyTorch's profiler.
TEST(Rules, RecordedSession) {
  const auto session = load(GPUFL_EXAMPLE_SESSION);
  ASSERT_TRUE(session) << session.status().text();
  const Overview overview = analyze(*session);
  const auto found = find_insights(*session, overview);
  const IdleTime& idle = overview.devices.at(0).idle;
  const auto idle_ns = static_cast<double>(idle.total_ns + idle.short_ns);
  for (const Insight& insight : found) {
    EXPECT_FALSE(insight.title.empty() || insight.detail.empty() || insight.advice.empty() ||
                 insight.estimate.empty() || insight.evidence.empty())
        << insight.rule;
    EXPECT_LE(insight.gain_ns.value_or(0), idle_ns) << insight.title;
  }
  // Eager PyTorch: the host is slower than the GPU, with short kernels and long pauses.
  ASSERT_EQ(of_rule(found, "launch_bound").size(), 1u);
  EXPECT_GT(*of_rule(found, "launch_bound")[0].gain_ns, 0.5 * idle_ns);
  EXPECT_EQ(of_rule(found, "tiny_kernels").size(), 1u);
  EXPECT_EQ(of_rule(found, "idle_gaps").size(), 1u);
  // It has no stacks, copies, samples, nor anything else to tell of.
  EXPECT_EQ(found.size(), 3u);
}

}  // namespace
}  // namespace gpufl::analysis::testing
