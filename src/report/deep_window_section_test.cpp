// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "report/json_report.hpp"
#include "report/test_report.hpp"

namespace gpufl::report {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

base::Json armed() {
  base::Json event = base::Json::object();
  event.set("time", 0).set("name", "deep_windows_armed").set("only", true);
  return event.set("after_ns", 5000 * kMillisecond)
      .set("condition", "kernel_launch_rate<100 for 2s");
}

analysis::SessionSummary with_windows() {
  analysis::SessionSummary summary;
  summary.duration_ns = 60'000 * kMillisecond;
  summary.ended = true;
  summary.events.push_back(armed());
  analysis::DeepWindowTotals& totals = summary.deep_windows;
  totals.count = 2;
  totals.duration_ns = 2'512 * kMillisecond;
  totals.launches = 1'300;
  totals.windows.push_back({1'000 * kMillisecond, 2'000 * kMillisecond, "", "when", "duration",
                            1'200, "PcSampling", "", "kernel_launch_rate<100 for 2s", 41, 0});
  totals.windows.push_back({20'000 * kMillisecond, 512 * kMillisecond, "slow step", "api",
                            "launches", 100, "Trace", "counted_before", "", std::nullopt, 3});
  return summary;
}

TEST(DeepWindowSection, ListsTheWindows) {
  const std::string text = text_of(with_windows());
  EXPECT_TRUE(has(text, "DEEP WINDOWS: 2 (2.512 s, 1,300 launches)")) << text;
  EXPECT_TRUE(has(text, "outside of deep windows all is recorded as with Trace")) << text;
  EXPECT_TRUE(has(text, "slow step")) << text;
  EXPECT_TRUE(has(text, "PcSampling")) << text;
  EXPECT_TRUE(has(text, "! slow step: an engine was not attached: counted_before")) << text;
}

TEST(DeepWindowSection, SaysThatNoneOpened) {
  analysis::SessionSummary summary;
  summary.duration_ns = 1'000 * kMillisecond;
  EXPECT_FALSE(has(text_of(summary), "DEEP WINDOWS")) << "nobody asked for any";
  summary.events.push_back(armed());
  const std::string text = text_of(summary);
  EXPECT_TRUE(has(text, "DEEP WINDOWS: none opened")) << text;
  EXPECT_TRUE(has(text, "one was to open 5.000 s after the")) << text;
  EXPECT_TRUE(has(text, "one was to open when kernel_launch_rate<100 for 2s")) << text;
  summary.header.engine = "PcSampling";
  EXPECT_TRUE(has(text_of(summary), "in deep windows only, and no window opened"));
}

TEST(DeepWindowSection, TheShortReportHasALine) {
  const std::string text = TestReport(with_windows()).short_text();
  EXPECT_TRUE(has(text, "deep windows")) << text;
  EXPECT_TRUE(has(text, "2 (2.512 s, 1,300 launches)")) << text;
}

TEST(DeepWindowSection, JsonHasAllOfIt) {
  const auto json = base::Json::parse(json_report(TestReport(with_windows()).view()));
  ASSERT_TRUE(json);
  const base::Json& windows = (*json)["deep_windows"];
  EXPECT_EQ(windows["armed"]["only"].as_bool(), true);
  EXPECT_EQ(windows["armed"]["after_ns"].as_integer(), 5000 * kMillisecond);
  EXPECT_EQ(windows["count"].as_integer(), 2);
  EXPECT_EQ(windows["launches"].as_integer(), 1'300);
  const base::Json& first = windows["list"].items().at(0);
  EXPECT_TRUE(first["name"].is_null());
  EXPECT_EQ(first["seen"].as_integer(), 41);
  EXPECT_TRUE(first["reason"].is_null());
  const base::Json& second = windows["list"].items().at(1);
  EXPECT_EQ(second["name"].as_string(), "slow step");
  EXPECT_EQ(second["closed_by"].as_string(), "launches");
  EXPECT_EQ(second["reason"].as_string(), "counted_before");
  EXPECT_TRUE(second["condition"].is_null());
  EXPECT_EQ(second["ignored"].as_integer(), 3);
}

}  // namespace
}  // namespace gpufl::report
