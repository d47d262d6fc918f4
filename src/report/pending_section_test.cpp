// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "report/test_report.hpp"

namespace gpufl::report {
namespace {

TEST(PendingSection, NamesWhatDidNotEnd) {
  analysis::SessionSummary summary;
  summary.duration_ns = 5'000'000'000;
  EXPECT_EQ(text_of(summary).find("STILL RUNNING"), std::string::npos);
  summary.pending = {{"cuStreamSynchronize", 2'000'000'000, 4711, -1, 12, 0},
                     {"cuLaunchKernel", 2'500'000'000, 4711, 3, 13, 0}};
  TextOptions options;
  options.top = 1;
  const std::string text = text_of(summary, options);
  EXPECT_NE(text.find("STILL RUNNING WHEN THE LOG ENDS"), std::string::npos) << text;
  EXPECT_NE(text.find("cuStreamSynchronize"), std::string::npos) << text;
  EXPECT_NE(text.find("3.000 s"), std::string::npos) << text;  // ago
  EXPECT_NE(text.find("... 1 more"), std::string::npos) << text;
  EXPECT_EQ(text.find("cuLaunchKernel"), std::string::npos) << text;
}

TEST(PendingSection, NamesAKernelThatStillRuns) {
  analysis::SessionSummary summary;
  summary.duration_ns = 5'000'000'000;
  summary.pending = {
      {"cudaLaunchKernel", 2'000'000'000, 4711, 0, 12, 0, "void ns::spin<int>(int*)"}};
  EXPECT_NE(text_of(summary).find("  cudaLaunchKernel  spin     2.000 s  3.000 s"),
            std::string::npos)
      << text_of(summary);
}

}  // namespace
}  // namespace gpufl::report
