// SPDX-License-Identifier: Apache-2.0
#include "report/kernel_report.hpp"

#include <gtest/gtest.h>

#include "analysis/session/test_tables.hpp"
#include "base/json.hpp"
#include "report/text_page.hpp"

namespace gpufl::report {
namespace {

using base::Json;

// One kernel, launched by two operators, in two scopes and outside of any.
analysis::SessionData session() {
  analysis::testing::TestSession made;
  const int64_t forward = made.scope("forward", 0, 100);
  const int64_t backward = made.scope("backward", 100, 100);
  made.marker("aten::mm", 10, 20, 1, "torch.op");
  made.marker("aten::bmm", 40, 20, 1, "torch.op");
  made.kernel("gemm", 1000, 600, {.scope = forward, .api_start = 15});
  made.kernel("gemm", 2000, 300, {.scope = backward, .api_start = 45});
  made.kernel("gemm", 3000, 100, {.api_start = 50});
  return made.finish();
}

KernelReport report_of(const analysis::SessionData& data, const analysis::CallerLimits& limits) {
  return {data.summary,
          "gemm",
          "gemm",
          3,
          1000,
          analysis::coverage(data, {}),
          analysis::kernel_callers(data, {}, "gemm", limits)};
}

TEST(KernelReport, TextNamesCallersByWhatTheLogTells) {
  const analysis::SessionData data = session();
  TextPage page(80, false);
  write_kernel(page, report_of(data, {}), {}, false);
  EXPECT_EQ(page.text(), R"(KERNEL: gemm
  launches                  3, 1.000 us on the GPU

LAUNCHED FROM
  by        launched from  launches   total  share
  operator  aten::mm              1  600 ns  60.0%
            aten::bmm             2  400 ns  40.0%
  scope     forward               1  600 ns  60.0%
            backward              1  300 ns  30.0%
            (no scope)            1  100 ns  10.0%
)");
}

TEST(KernelReport, SaysThatLaunchesAreThoseOfThePhases) {
  analysis::testing::TestSession made;
  made.data.summary.duration_ns = 10'000;
  made.data.summary.ended = true;
  for (const int64_t start : {1000, 5000}) {
    made.coverage("Trace", start, 1000);
    made.kernel("gemm", start, 500);
  }
  const analysis::SessionData data = made.finish();
  TextPage page(120, false);
  write_kernel(page, report_of(data, {}), {}, false);
  EXPECT_NE(page.text().find("2 phases, which cover 20.0% of the session: totals are those of the "
                             "phases\n"),
            std::string::npos)
      << page.text();
  const auto json = Json::parse(json_kernel_report(report_of(data, {}), false));
  ASSERT_TRUE(json.is_ok());
  EXPECT_TRUE((*json)["coverage"]["is_budgeted"].as_bool());
  EXPECT_EQ((*json)["coverage"]["covered_ns"].as_integer(), 2000);
}

TEST(KernelReport, JsonCountsWhatAListLeavesOut) {
  const analysis::SessionData data = session();
  const auto json = Json::parse(
      json_kernel_report(report_of(data, {.entries = 1, .stacks = 1, .frames = 1}), true));
  ASSERT_TRUE(json.is_ok());
  const Json& scopes = (*json)["callers"]["by_scope"];
  ASSERT_EQ(scopes["groups"].items().size(), 1u);
  EXPECT_EQ(scopes["groups"].items()[0]["label"].as_string(), "forward");
  EXPECT_DOUBLE_EQ(scopes["groups"].items()[0]["share"].as_number(), 0.6);
  EXPECT_EQ(scopes["more"].dump(), R"({"groups":2,"launches":2,"total_ns":400})");
  EXPECT_EQ((*json)["callers"]["by_stack"]["unknown"].as_string(),
            "call stacks of launches were not recorded");
}

// Two lines of a kernel that were counted: the second moves four times the sectors it needs.
TEST(KernelReport, CountedLinesNameTheWorstAndByWhichFactor) {
  const analysis::SessionData data = session();
  disassembly::ModuleNote module;
  disassembly::KernelCode code;
  code.name = "gemm";
  code.instructions.resize(2);
  KernelReport report = report_of(data, {});
  KernelImage image{&module, &code, {}};
  image.sampled.instructions.resize(2);
  analysis::InstructionCounts even, strided;
  even.warps = 300;
  even.threads = even.threads_on = 9600;
  strided.warps = 100;
  strided.threads = 1600;
  strided.threads_on = 1200;
  strided.sectors = 6400;
  strided.sectors_ideal = 1600;
  image.counted.instructions = {even, strided};
  image.counted.lines = {{even, "/home/me/gemm.cu", 11}, {strided, "/home/me/gemm.cu", 12}};
  for (const auto& counts : {even, strided}) {
    report.counts.add(counts);
    image.counted.total.add(counts);
  }
  report.images.push_back(image);
  TextPage page(100, false);
  write_kernel(page, report, {}, false);
  EXPECT_NE(
      page.text().find("  counted                   400 warp instructions, 28.0 of 32 threads "
                       "active, 3.6% of them\n"),
      std::string::npos)
      << page.text();
  EXPECT_NE(page.text().find(R"(
  uncoalesced               most at gemm.cu:12: 4.0 times the sectors needed
  divergent                 most at gemm.cu:12: 16.0 of 32 threads active
  line        executed  threads  sectors  needed  source
  gemm.cu:11       300     32.0
  gemm.cu:12       100     16.0    6,400    4.0x
)"),
            std::string::npos)
      << page.text();

  const auto json = Json::parse(json_kernel_report(report, false));
  ASSERT_TRUE(json.is_ok());
  const Json& shown = (*json)["images"].items().at(0);
  EXPECT_EQ((*json)["counts"]["sectors"].as_integer(), 6400);
  EXPECT_EQ(shown["counted_lines"].items().at(1)["counts"]["sectors_ideal"].as_integer(), 1600);
  EXPECT_EQ(shown["instructions"].items().at(1)["counts"]["threads"].as_integer(), 1600);
}

}  // namespace
}  // namespace gpufl::report
