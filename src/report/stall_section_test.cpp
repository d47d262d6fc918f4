// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analysis/session/test_tables.hpp"
#include "report/json_report.hpp"
#include "report/test_report.hpp"

namespace gpufl::report {
namespace {

using analysis::testing::TestSession;

const std::string kPrefix = "smsp__pcsamp_warps_issue_stalled_";

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TestSession sampled() {
  TestSession session;
  session.data.summary.header.engine = "PcSampling";
  session.data.summary.duration_ns = 10'000;
  session.data.summary.ended = true;
  format::Ledger& ledger = session.data.summary.ledger.emplace();
  ledger.sampling_windows = 4;
  ledger.pc_samples = 421;
  ledger.pc_samples_unlocated = 21;
  const int64_t step = session.scope("step", 0, 10'000);
  session.kernel("gemm", 0, 5'000, {.scope = step});
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t time = i * 1'000;
    session.coverage("PcSampling", time, 100,
                     {.shape = format::CoverageShape::Window, .samples = 100});
    session.pc_sample("gemm", 16, kPrefix + "long_scoreboard", 50 + i, {.time = time + 100});
    session.pc_sample("gemm", 16, kPrefix + "long_scoreboard_not_issued", 40, {.time = time + 100});
    session.pc_sample("gemm", 32, kPrefix + "selected", 50 - i, {.time = time + 100});
  }
  return session;
}

TEST(StallSection, KernelsWithWhatTheyWaitFor) {
  const std::string text = text_of(sampled().finish());
  EXPECT_TRUE(has(text, "STALLS: 421 in 4 windows; 21 in code that the vendor keeps private"))
      << text;
  EXPECT_TRUE(has(text, "long_scoreboard ~51.5% ±")) << text;
  EXPECT_FALSE(has(text, "selected ~")) << text;
  EXPECT_TRUE(has(text, "long_scoreboard: Waits for data from global or local memory")) << text;
  EXPECT_TRUE(has(text, "step ~100.0%")) << text;
}

TEST(StallSection, WhereTheyWereAskedForAndAreNotThere) {
  TestSession session;
  session.data.summary.header.engine = "Trace";
  analysis::Capability capability;
  capability.feature = "profiling_engine";
  capability.asked = "PcSampling";
  capability.got = "Trace";
  capability.reason = "no_permission";
  capability.detail = "the driver allows it to root alone";
  capability.hint = "let the driver allow it";
  session.data.summary.capabilities.push_back(capability);
  session.kernel("gemm", 0, 100);
  const std::string text = text_of(session.finish());
  EXPECT_TRUE(
      has(text, "stalls: the engine PcSampling was requested but is not available: the driver"))
      << text;
  EXPECT_TRUE(has(text, "-> let the driver allow it")) << text;
  // Who did not ask is not told.
  TestSession plain;
  plain.kernel("gemm", 0, 100);
  EXPECT_FALSE(has(text_of(plain.finish()), "stalls"));
}

TEST(StallSection, Json) {
  const TestReport report(sampled().finish());
  const auto parsed = base::Json::parse(json_report(report.view()));
  ASSERT_TRUE(parsed.is_ok());
  const base::Json& stalls = (*parsed)["stalls"];
  EXPECT_EQ(stalls["samples"].as_integer(), 400);
  EXPECT_EQ(stalls["windows"].as_integer(), 4);
  const base::Json& gemm = stalls["kernels"].items()[0];
  EXPECT_EQ(gemm["label"].as_string(), "gemm");
  EXPECT_EQ(gemm["share"]["windows"].as_integer(), 4);
  const base::Json& top = gemm["stalls"].items()[0];
  EXPECT_EQ(top["reason"].as_string(), "long_scoreboard");
  EXPECT_EQ(top["samples"].as_integer(), 206);
  EXPECT_EQ(top["not_issued"].as_integer(), 160);
  EXPECT_EQ(gemm["hottest"].items()[0]["pc"].as_integer(), 16);
  EXPECT_EQ(stalls["scopes"].items()[0]["scope"].as_string(), "step");
  EXPECT_DOUBLE_EQ(stalls["scopes"].items()[0]["estimated"].as_number(), 400);
}

}  // namespace
}  // namespace gpufl::report
