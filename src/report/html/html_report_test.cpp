// SPDX-License-Identifier: Apache-2.0
#include "report/html/html_report.hpp"

#include <gtest/gtest.h>

#include "analysis/session/test_tables.hpp"
#include "analysis/warp/pipeline_simulator.hpp"
#include "base/json.hpp"

namespace gpufl::report {
namespace {

using analysis::testing::TestSession;

std::string report_of(TestSession& session, const HtmlOptions& options = {}) {
  analysis::RunData run;
  run.sessions.push_back(session.finish());
  run.offset_ns.push_back(0);
  const analysis::RunOverview overview = analysis::analyze_run(run);
  const std::vector<std::vector<analysis::Insight>> none(1);
  return html_report({run, overview, {}, 0, none}, options);
}

// What the page's script reads.
base::Json picture_of(const std::string& html) {
  constexpr std::string_view kBegin = "id=\"picture\">";
  const size_t begin = html.find(kBegin);
  EXPECT_NE(begin, std::string::npos);
  const size_t end = html.find("</script>", begin);
  auto parsed = base::Json::parse(html.substr(begin + kBegin.size(), end - begin - kBegin.size()));
  EXPECT_TRUE(parsed) << parsed.status().text();
  return parsed ? *parsed : base::Json();
}

TEST(HtmlReportTest, IsOnePageThatNeedsNothingElse) {
  TestSession session;
  session.kernel("gemm", 100, 50);
  const std::string html = report_of(session);
  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  for (const char* outside : {"src=", "http:", "https:", "@import", "url("}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
  const base::Json picture = picture_of(html);
  EXPECT_EQ(picture["end"].as_integer(), 150);
  EXPECT_EQ(picture["texts"].items().at(0).items().at(0).as_string(), "gemm");
  const base::Json& row = picture["tracks"].items().at(0)["rows"].items().at(0);
  EXPECT_EQ(row["s"].items().at(0).as_integer(), 100);
  EXPECT_EQ(row["d"].items().at(0).as_integer(), 50);
  EXPECT_EQ(row.find("c"), nullptr);
  EXPECT_EQ(picture["texts"].items().at(0).items().at(2).as_string(), "matrix product");
  EXPECT_EQ(picture["tracks"].items().at(0)["kind"].as_string(), "kernels");
}

// What is embedded in a page must not end the element that it is in.
TEST(HtmlReportTest, HasOneScriptAndOneStyle) {
  TestSession session;
  session.kernel("gemm", 100, 50);
  const std::string html = report_of(session);
  const auto count = [&](std::string_view part) {
    size_t found = 0;
    for (size_t at = 0; (at = html.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(count("<script"), 2u) << "the picture and the page's own";
  EXPECT_EQ(count("</script"), 2u);
  EXPECT_EQ(count("<style"), 1u);
  EXPECT_EQ(count("</style"), 1u);
}

TEST(HtmlReportTest, HasNoHeadingWithNothingBelowIt) {
  TestSession session;
  session.kernel("gemm", 100, 50);
  const std::string html = report_of(session);
  for (size_t at = 0; (at = html.find("</h2>\n", at)) != std::string::npos; at += 6) {
    EXPECT_NE(html.compare(at + 6, 3, "<h2"), 0) << html.substr(at - 60, 120);
  }
  EXPECT_EQ(html.find("Not as asked"), std::string::npos);
  TestSession lower;
  lower.kernel("gemm", 100, 50);
  lower.data.summary.capabilities.push_back({"profiling_engine", "Trace", "Monitor", "", "", ""});
  const std::string refused = report_of(lower);
  EXPECT_LT(refused.find("Not as asked"), refused.find("profiling_engine: asked Trace"));
}

TEST(HtmlReportTest, NamesCannotLeaveTheirPlace) {
  TestSession session;
  session.kernel("</script><script>alert(1)</script>", 0, 10);
  session.scope("<img onerror=x>", 0, 10);
  session.data.summary.header.app_name = "<b>app</b>";
  const std::string html = report_of(session);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("<b>app"), std::string::npos);
  EXPECT_EQ(picture_of(html)["texts"].items().size(), 2u);
}

TEST(HtmlReportTest, StaysSmall) {
  TestSession session;
  for (int64_t i = 0; i < 20'000; ++i) session.kernel("k", i * 1000, 900);
  TestSession empty;
  const std::string html = report_of(session, {.text = {}, .max_blocks = 500});
  const std::string empty_html = report_of(empty, {.text = {}, .max_blocks = 500});
  EXPECT_LT(html.size(), empty_html.size() + 40'000u) << "besides what every page has";
  EXPECT_NE(html.find("20,000 events are drawn"), std::string::npos);
}

TEST(HtmlReportTest, ARunOfSeveralProcesses) {
  analysis::RunData run;
  for (int rank = 0; rank < 2; ++rank) {
    TestSession session;
    session.kernel("gemm", 100, 50);
    session.data.summary.header.rank = rank;
    session.data.summary.header.process = "train";
    session.data.summary.header.pid = 40 + rank;
    run.sessions.push_back(session.finish());
    run.offset_ns.push_back(rank * 1000);
  }
  const std::vector<std::vector<analysis::Insight>> none(2);
  const std::string html = html_report({run, analysis::analyze_run(run), {}, 0, none});
  EXPECT_NE(html.find("<summary>rank 1: train (pid 41)"), std::string::npos);
  const base::Json picture = picture_of(html);
  ASSERT_EQ(picture["tracks"].items().size(), 2u);
  // On one axis.
  EXPECT_EQ(picture["tracks"].items()[1]["rows"].items().at(0)["s"].items().at(0).as_integer(),
            1100);
}

TEST(HtmlReportTest, TheHeadTellsWhatMatters) {
  TestSession session;
  session.data.summary.duration_ns = 1'000;
  session.kernel("gemm", 100, 500);
  const std::string html = report_of(session);
  const std::string head = html.substr(0, html.find("<nav>"));
  EXPECT_NE(head.find("<dt>GPU busy</dt><dd>50.0%</dd>"), std::string::npos) << head;
  EXPECT_NE(head.find("<dt>Kernels</dt><dd>1</dd>"), std::string::npos) << head;
  EXPECT_NE(head.find("<dt>Log</dt><dd class=\"warning\""), std::string::npos) << head;
  TestSession monitor;
  monitor.data.summary.header.engine = "Monitor";
  EXPECT_NE(report_of(monitor).find("<dt>GPU busy</dt><dd>unknown</dd>"), std::string::npos);
}

TEST(HtmlReportTest, WhatCostsMostComesFirstAndInsightsLeadToTheirTime) {
  TestSession session;
  session.kernel("gemm", 100, 50);
  analysis::Insight insight;
  insight.title = "Waits for nothing";
  insight.severity = analysis::Severity::High;
  insight.gain_ns = 30;
  insight.advice = "Do not.";
  analysis::Evidence evidence;
  evidence.text = "40 pauses";
  evidence.start_ns = 110;
  evidence.end_ns = 140;
  insight.evidence.push_back(evidence);
  analysis::RunData run;
  run.sessions.push_back(session.finish());
  run.offset_ns.push_back(1'000);
  const std::vector<std::vector<analysis::Insight>> insights = {{insight}};
  const std::string html = html_report({run, analysis::analyze_run(run), {}, 0, insights});
  const size_t title = html.find("Waits for nothing");
  ASSERT_NE(title, std::string::npos);
  EXPECT_LT(title, html.find("id=\"plot\""));
  const size_t whole = html.find("Waits for nothing", title + 1);
  ASSERT_NE(whole, std::string::npos);
  EXPECT_GT(whole, html.find("id=\"plot\""));
  EXPECT_EQ(html.find("Waits for nothing", whole + 1), std::string::npos) << "told once in full";
  EXPECT_NE(html.find("data-from=\"1110\" data-to=\"1140\">40 pauses"), std::string::npos);
}

TEST(HtmlReportTest, AKernelCanBeOpened) {
  TestSession session;
  const int64_t end =
      analysis::testing::add_pipeline(session, {.blocks = 40, .iterations = 8, .correlation = 9});
  session.kernel("gemm", 1'000'000, end - 1'000'000, {.correlation = 9});
  const std::string html = report_of(session);
  const base::Json picture = picture_of(html);
  const base::Json& inside = picture["tracks"].items().at(1);
  EXPECT_EQ(inside["inside"].as_string(), "gemm");
  EXPECT_TRUE(inside["group"].as_string().ends_with("inside gemm: 8 of 40 blocks"));
  EXPECT_EQ(picture["tracks"].items().at(0).find("inside"), nullptr);
  bool has_wait = false;
  for (const base::Json& text : picture["texts"].items()) {
    if (text.items().size() == 3) has_wait |= text.items()[2].as_string() == "wait";
  }
  EXPECT_TRUE(has_wait);
  EXPECT_NE(html.find("Double click a kernel"), std::string::npos);
  EXPECT_NE(html.find("data-from=\"1000000\""), std::string::npos) << "its section leads to it";
}

TEST(HtmlReportTest, ASessionWithNothing) {
  TestSession session;
  const std::string html = report_of(session);
  EXPECT_NE(html.find("holds no kernels"), std::string::npos);
  EXPECT_EQ(html.find("id=\"picture\""), std::string::npos);
}

}  // namespace
}  // namespace gpufl::report
