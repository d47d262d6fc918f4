// SPDX-License-Identifier: Apache-2.0
#include "report/json_report.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "analysis/insights/test_program.hpp"
#include "report/test_report.hpp"

namespace gpufl::report {
namespace {

using analysis::testing::kMs;
using analysis::testing::TestProgram;
using base::Json;

Json parsed(const std::string& line) {
  EXPECT_TRUE(line.ends_with('\n'));
  auto json = Json::parse(line);
  EXPECT_TRUE(json.is_ok()) << json.status().text() << line;
  return json ? std::move(*json) : Json();
}

analysis::SessionData session_of_rank(int64_t rank, int64_t kernel_ns) {
  TestProgram program;
  auto& header = program.data.summary.header;
  header.engine = "Trace";
  header.rank = rank;
  header.start_wall_ns = 1763178312123456789;
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t step = program.scope("step", i * 10 * kMs, 9 * kMs);
    program.kernel("gemm", i * 10 * kMs, kernel_ns, {.stream = INT64_MAX, .scope = step});
  }
  return program.finish();
}

TEST(JsonReport, HoldsExactFigures) {
  const TestReport report(session_of_rank(0, 1'234'567));
  const Json json = parsed(json_report(report.view()));
  EXPECT_EQ(json["format"].as_string(), "gpufl-report");
  EXPECT_EQ(json["version"].as_integer(), 1);
  EXPECT_EQ(json["kind"].as_string(), "session");
  // What a double would not hold is text.
  EXPECT_EQ(json["session"]["start_wall_ns"].as_string(), "1763178312123456789");
  EXPECT_FALSE(json["session"]["duration_is_lower_bound"].as_bool(true));
  const Json& kernels = json["kernels"];
  EXPECT_EQ(kernels["total_ns"].as_integer(), 12'345'670);
  ASSERT_EQ(kernels["by_stream"].items().size(), 1u);
  EXPECT_EQ(kernels["by_stream"].items()[0]["stream"].as_string(), "9223372036854775807");
  const Json& gemm = kernels["by_name"].items()[0];
  EXPECT_EQ(gemm["label"].as_string(), "gemm");
  EXPECT_EQ(gemm["duration_ns"]["count"].as_integer(), 10);
  EXPECT_EQ(gemm["duration_ns"]["p99"].as_integer(), 1'234'567);
  EXPECT_EQ(kernels["by_config"].items()[0]["config"]["grid"].items()[0].as_integer(), 128);
  ASSERT_EQ(json["scopes"].items().size(), 1u);
  EXPECT_EQ(json["scopes"].items()[0]["total"]["kernel_ns"].as_integer(), 12'345'670);
  EXPECT_EQ(json["gpu_time"]["devices"].items()[0]["busy_ns"].as_integer(), 12'345'670);
}

TEST(JsonReport, TellsWhatEachResourceAllowsAndWhatThereIsOfIt) {
  analysis::testing::TestSession program;
  analysis::LaunchConfig config;
  config.occupancy_bounds = {{"registers", 2}, {"waves", 8}};
  program.kernel(program.config("gemm", config), 0, 20);
  program.kernel("relu", 30, 10);
  program.data.summary.header.engine = "Trace";
  for (const char* line : {R"({"device":0,"vendor":"nvidia","architecture":"sm_90"})",
                           R"({"device":1,"vendor":"amd","architecture":"gfx942"})"}) {
    program.data.summary.devices.push_back(parsed(std::string(line) + "\n"));
  }
  const TestReport report(program.finish());
  const Json json = parsed(json_report(report.view()));
  const auto& configs = json["kernels"]["by_config"].items();
  EXPECT_EQ(configs[0]["config"]["occupancy_bounds"].dump(), R"({"registers":2,"waves":8})");
  EXPECT_TRUE(configs[1]["config"]["occupancy_bounds"].is_null());
  EXPECT_EQ(json["devices"].items()[0]["multiprocessor"]["shared_bytes"].as_integer(), 233'472);
  EXPECT_EQ(json["devices"].items()[1].find("multiprocessor"), nullptr);
}

TEST(JsonReport, WaitsHaveWhatTheyWaitForAndTheTextAroundThem) {
  TestProgram program;
  const uint32_t first = program.line("/home/me/a.py", 7, "f");
  const uint32_t second = program.line("/home/me/a.py", 9, "f");
  program.kernel("gemm", 20, 100, {.api_start = 10});
  program.wait(3, 30, 200, {.stack = first});
  program.kernel("add", 250, 5, {.api_start = 240});
  program.kernel("gemm", 260, 100, {.api_start = 241});
  program.wait(3, 300, 80, {.stack = second});
  symbols::SymbolFile symbols;
  symbols.sources = {{"/home/me/a.py", "python", 6, false, {"six", "seven", "eight", "nine"}},
                     {"/home/me/b.py", "python", 1, false, {"other"}}};
  analysis::SessionData session = program.finish();
  session.code = program.code(symbols);
  const TestReport report(std::move(session));
  const Json json = parsed(json_report(report.view()));
  const Json& waits = json["waits"];
  ASSERT_EQ(waits["by_line"].items().size(), 2u);
  const Json& line = waits["by_line"].items()[1];
  EXPECT_EQ(line["line"].as_integer(), 9);
  EXPECT_EQ(line["call"].as_string(), "StreamSynchronize");
  EXPECT_EQ(line["typical"].dump(),
            R"({"start_ns":300,"duration_ns":80,"before":{"start_ns":30,"duration_ns":200}})");
  EXPECT_EQ(line["launched"].dump(),
            R"({"kernels":[{"kernel":0,"count":1,"gpu_ns":100},{"kernel":1,"count":1,"gpu_ns":5}],)"
            R"("others":{"kernels":0,"count":0,"gpu_ns":0},"graphs":0})");
  EXPECT_EQ(waits["kernels"].dump(),
            R"([{"label":"gemm","full_name":"gemm"},{"label":"add","full_name":"add"}])");
  // One text has both lines, and none waits in the other.
  ASSERT_EQ(waits["sources"].items().size(), 1u);
  EXPECT_EQ(waits["sources"].items()[0]["path"].as_string(), "/home/me/a.py");
}

TEST(JsonReport, WaitsWithoutTextSayWhatWouldKeepIt) {
  const auto sources = [](bool may_keep) {
    TestProgram program;
    program.data.summary.header.source_text = may_keep;
    program.wait(3, 30, 200, {.stack = program.line("/home/me/a.py", 7, "f")});
    analysis::SessionData session = program.finish();
    session.code = program.code();
    const TestReport report(std::move(session));
    return parsed(json_report(report.view()))["waits"]["sources"];
  };
  EXPECT_NE(sources(true)["hint"].as_string().find("--source-root"), std::string::npos);
  EXPECT_NE(sources(false)["unknown"].as_string().find("enable_source_collection"),
            std::string::npos);
}

TEST(JsonReport, TheTimeOfASessionWithoutAnEndIsALowerBound) {
  analysis::SessionData session = session_of_rank(0, 1'000);
  session.summary.ended = false;
  const TestReport report(std::move(session));
  const Json json = parsed(json_report(report.view()));
  EXPECT_TRUE(json["session"]["duration_is_lower_bound"].as_bool());
  EXPECT_EQ(json["session"]["ended"].as_string(), "cut_off");
}

TEST(JsonReport, CountsOfASessionThatWasCutOffAreLowerBounds) {
  enum class State { Ended, CutOff, Live };
  for (const State state : {State::Ended, State::CutOff, State::Live}) {
    analysis::SessionData session = session_of_rank(0, 1'000);
    session.summary.header.engine = "Trace";
    session.summary.ended = state == State::Ended;
    session.summary.live = state == State::Live;
    if (state == State::Ended) session.summary.ledger.emplace();
    const TestReport report(std::move(session));
    const Json json = parsed(json_report(report.view()));
    const bool is_bound = state == State::CutOff;
    EXPECT_EQ(json["scopes"].items().at(0)["is_lower_bound"].as_bool(!is_bound), is_bound);
    EXPECT_EQ(json["iterations"]["is_lower_bound"].as_bool(!is_bound), is_bound);
  }
}

TEST(JsonReport, LostScopesMakeCountsLowerBounds) {
  for (const uint64_t dropped : {0, 3}) {
    analysis::SessionData session = session_of_rank(0, 1'000);
    session.summary.ledger.emplace().scopes_dropped = dropped;
    const TestReport report(std::move(session));
    const Json json = parsed(json_report(report.view()));
    const bool is_lossy = dropped > 0;
    EXPECT_EQ(json["scopes"].items().at(0)["is_lower_bound"].as_bool(!is_lossy), is_lossy);
    EXPECT_EQ(json["iterations"]["is_lower_bound"].as_bool(!is_lossy), is_lossy);
  }
}

TEST(JsonReport, ListsOptionsThatCouldNotBeUsed) {
  analysis::SessionData session = session_of_rank(0, 1000);
  Json warning = Json::object();
  warning.set("time", 0).set("name", "option_warning").set("key", "GPUFL_BACKEND");
  session.summary.events = {warning, Json::object()};
  const Json json = parsed(json_report(TestReport(std::move(session)).view()));
  ASSERT_EQ(json["option_warnings"].items().size(), 1u);
  EXPECT_EQ(json["option_warnings"].items()[0]["key"].as_string(), "GPUFL_BACKEND");
  const TestReport without(session_of_rank(0, 1000));
  EXPECT_TRUE(parsed(json_report(without.view()))["option_warnings"].is_array());
}

TEST(JsonReport, SaysWhyAFigureIsUnknown) {
  const TestReport report(session_of_rank(0, kMs));
  const Json json = parsed(json_report(report.view()));
  const Json& memory = json["memory"];
  EXPECT_FALSE(memory["unknown"].as_string().empty());
  EXPECT_FALSE(memory["hint"].as_string().empty());
  analysis::SessionSummary summary;
  summary.header.engine = "Monitor";
  const TestReport monitor(std::move(summary));
  const Json nothing = parsed(json_report(monitor.view()));
  EXPECT_FALSE(nothing["kernels"]["unknown"].as_string().empty());
  EXPECT_FALSE(nothing["gpu_time"]["recorded_ns"]["unknown"].as_string().empty());
  EXPECT_EQ(nothing["ledger"]["verdict"].as_string(), "cut off");
  EXPECT_TRUE(nothing["ledger"]["numbers"].is_null());
}

TEST(JsonReport, WhatTheEngineDoesNotRecordIsNoZero) {
  TestProgram program;
  program.data.summary.header.engine = "Monitor";
  program.device_fact(0, "name", "NVIDIA H200");
  for (int64_t i = 0; i < 5; ++i) program.scope("step", i * 10 * kMs, 9 * kMs);
  const TestReport report(program.finish());
  const Json json = parsed(json_report(report.view()));
  const auto is_unknown = [](const Json& value) { return !value["unknown"].as_string().empty(); };
  const Json& device = json["gpu_time"]["devices"].items().at(0);
  EXPECT_EQ(device["device"].as_integer(), 0);
  for (const char* key : {"busy_ns", "busy_share", "recorded_ns", "kernels", "busy_series"}) {
    EXPECT_TRUE(is_unknown(device[key])) << key;
  }
  const Json& scope = json["scopes"].items().at(0);
  EXPECT_EQ(scope["duration_ns"]["count"].as_integer(), 5);
  for (const char* key : {"own", "total", "busy_ns", "kernels", "waits"}) {
    EXPECT_TRUE(is_unknown(scope[key])) << key;
  }
  const Json& iterations = json["iterations"];
  EXPECT_EQ(iterations["duration_ns"]["count"].as_integer(), 5);
  EXPECT_TRUE(is_unknown(iterations["kernel_ns"]));
  EXPECT_TRUE(iterations["list"].items().at(0)["kernel_ns"].is_null());
  EXPECT_EQ(report.text().find("kernel time"), std::string::npos) << report.text();
}

TEST(JsonReport, OfARunItsRanks) {
  analysis::RunData run;
  run.id = "run-7";
  run.sessions.push_back(session_of_rank(0, 1 * kMs));
  run.sessions.push_back(session_of_rank(1, 3 * kMs));
  run.offset_ns = {0, 5};
  const analysis::RunOverview overview = analysis::analyze_run(run);
  const Json json = parsed(json_run_report({run, overview, {}}));
  EXPECT_EQ(json["kind"].as_string(), "run");
  ASSERT_EQ(json["ranks"].items().size(), 2u);
  EXPECT_EQ(json["ranks"].items()[1]["rank"].as_integer(), 1);
  EXPECT_EQ(json["ranks"].items()[1]["offset_ns"].as_integer(), 5);
  EXPECT_EQ(json["ranks"].items()[1]["kernels"]["total_ns"].as_integer(), 30 * kMs);
  const Json& kernel = json["kernels"].items()[0];
  EXPECT_EQ(kernel["total_ns"].as_integer(), 40 * kMs);
  EXPECT_EQ(kernel["min_rank_ns"].as_integer(), 10 * kMs);
  EXPECT_EQ(kernel["max_rank_ns"].as_integer(), 30 * kMs);
  EXPECT_EQ(json["imbalance"]["busy"]["slowest"].as_integer(), 1);
}

}  // namespace
}  // namespace gpufl::report
