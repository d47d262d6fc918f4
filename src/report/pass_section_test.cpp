// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "analysis/session/test_tables.hpp"
#include "report/text_page.hpp"
#include "report/text_sections.hpp"

namespace gpufl::report {
namespace {

using analysis::MergedPasses;
using analysis::SessionPass;
using analysis::testing::TestSession;

SessionPass pass(std::string asked, std::string got, uint64_t kernels) {
  SessionPass made;
  made.asked = std::move(asked);
  made.got = std::move(got);
  made.kernels = kernels;
  made.kernel_ns = static_cast<int64_t>(kernels) * 1000;
  made.duration_ns = 50'000'000;
  made.has_end = true;
  return made;
}

std::string passes_text(const MergedPasses& passes, Detail detail) {
  analysis::SessionData session = TestSession().finish();
  session.passes = std::make_shared<MergedPasses>(passes);
  const analysis::Overview overview;
  TextPage page(100, false);
  write_passes(page, {session, overview, {}}, 10, detail);
  return page.text();
}

TEST(PassSection, SaysWhatComesFromWhereAndWhatDiffers) {
  MergedPasses passes;
  passes.list = {pass("Trace", "Trace", 20),
                 pass("PcSampling", "PcSampling", 21),
                 pass("RangeProfiler", "Trace", 20),
                 {}};
  passes.list[2].why = {"this version does not have that engine", "use another one"};
  passes.list[3].asked = "SassMetrics";
  passes.stalls = 1;
  passes.counts = analysis::Unknown{"the process has no session in pass 4, SassMetrics", ""};
  passes.ranges = analysis::Unknown{"the engine Trace records no hardware counters", ""};
  passes.launches = {{"checkpoint", "checkpoint(int)", "train > step", {0, 1, 0, std::nullopt}}};
  passes.order = {{1, 7, "gemm in train", "relu in train"}};
  EXPECT_EQ(passes_text(passes, Detail::Full), R"(PASSES
  pass  engine                       shown of it  kernels  time on GPU    lasted
     1  Trace                        times             20     20.00 us  50.00 ms
     2  PcSampling                   stalls            21     21.00 us  50.00 ms
     3  RangeProfiler, ran as Trace  nothing           20     20.00 us  50.00 ms
     4  SassMetrics, has no session  nothing            -            -         -
  pass 3, RangeProfiler, ran as Trace: this version does not have that engine; use another one
  no counts by instruction: the process has no session in pass 4, SassMetrics
  no hardware counters: the engine Trace records no hardware counters

MISMATCHES BETWEEN PASSES: 1 kernel by launches, 1 thread by order, 1 session missing
  pass 4, SassMetrics: the process has no session
  kernel      scope         pass 1  pass 2  pass 3  pass 4
  checkpoint  train > step       0       1       0       ?
  pass 2, PcSampling: where pass 1 launches gemm in train (launch 7 of its thread), it launches relu
    in train
)");
  const std::string brief = passes_text(passes, Detail::Brief);
  EXPECT_NE(brief.find("1 kernel by launches, 1 thread by order, 1 session missing"),
            std::string::npos);
  EXPECT_EQ(brief.find("checkpoint"), std::string::npos);
  EXPECT_EQ(sources_text(passes), "times of pass 1, Trace; stalls of pass 2, PcSampling");
}

TEST(PassSection, ClaimsNoAgreementThatWasNotLookedFor) {
  MergedPasses passes;
  passes.list = {pass("Trace", "Trace", 20), pass("PcSampling", "PcSampling", 20)};
  passes.stalls = 1;
  EXPECT_NE(passes_text(passes, Detail::Full).find("MISMATCHES BETWEEN PASSES: none\n"),
            std::string::npos);
  passes.uncompared = {"pass 2, PcSampling: its log has no end"};
  const std::string text = passes_text(passes, Detail::Full);
  EXPECT_NE(text.find("MISMATCHES BETWEEN PASSES: none found\n  not all compared: pass 2, "
                      "PcSampling: its log has no end\n"),
            std::string::npos)
      << text;
}

TEST(PassSection, IsNotThereOfOneSession) {
  const analysis::SessionData session = TestSession().finish();
  const analysis::Overview overview;
  TextPage page(100, false);
  write_passes(page, {session, overview, {}}, 10);
  EXPECT_EQ(page.text(), "");
}

}  // namespace
}  // namespace gpufl::report
