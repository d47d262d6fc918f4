// SPDX-License-Identifier: Apache-2.0
#include "report/html/svg_chart.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpufl::report {
namespace {

// What the one line of a chart is drawn as.
std::string path_of(const analysis::Series& series) {
  const std::string svg = svg_chart({"Busy", "%", {{"GPU 0", series}}, 100, 100, 0, 1000});
  const std::string path = svg.substr(svg.find(" d=\"") + 4);
  return path.substr(0, path.find('"'));
}

TEST(SvgChartTest, AGapInTheDataIsAGapInTheLine) {
  analysis::Series series;
  series.step_ns = 10;
  for (const int64_t time : {0, 10, 20, 500, 510}) series.points.push_back({time, 1, 1, 1});
  const std::string drawn = path_of(series);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 'M'), 2);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 'L'), 3);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 'h'), 0);
}

TEST(SvgChartTest, SamplesThatComeSeldomAreALine) {
  analysis::Series series;
  series.step_ns = 1;
  for (const int64_t time : {0, 100, 210, 290, 400}) series.points.push_back({time, 1, 1, 1});
  const std::string drawn = path_of(series);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 'M'), 1);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 'L'), 4);
}

TEST(SvgChartTest, APointAloneIsADot) {
  analysis::Series series;
  series.step_ns = 10;
  series.points.push_back({500, 1, 1, 1});
  EXPECT_TRUE(path_of(series).ends_with("h0")) << path_of(series);
  for (const int64_t time : {900, 910, 920, 930}) series.points.push_back({time, 1, 1, 1});
  const std::string drawn = path_of(series);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 'h'), 1);
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 'M'), 2);
}

TEST(SvgChartTest, TheScaleEndsOnARoundNumberAboveTheValues) {
  analysis::Series series{10, {{0, 37, 37, 37}, {10, 41, 41, 41}}};
  const std::string svg = svg_chart({"Power", "W", {{"GPU 0", series}}, 1, 0, 0, 20});
  EXPECT_NE(svg.find(">50</text>"), std::string::npos) << svg;
}

TEST(SvgChartTest, TextCannotBecomeMarkup) {
  EXPECT_EQ(html_text("<script>\"&'"), "&lt;script&gt;&quot;&amp;&#39;");
  EXPECT_EQ(html_text("a\x01z\xff"), "a?z?");
  const std::string svg = svg_chart({"<b>", "\"", {}, 1, 1, 0, 1});
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace gpufl::report
