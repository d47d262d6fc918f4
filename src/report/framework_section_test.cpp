// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "analysis/session/test_tables.hpp"
#include "report/test_report.hpp"
#include "report/text_page.hpp"
#include "report/text_sections.hpp"

namespace gpufl::report {
namespace {

using analysis::testing::TestSession;

std::string section(const TestReport& report, size_t top) {
  TextPage page(80, false);
  write_framework(page, report.view(), top);
  return page.text();
}

TestSession session_with_operators() {
  TestSession session;
  session.marker("aten::mm", 100, 100, 1, "torch.op");
  session.marker("aten::relu", 300, 100, 1, "torch.op");
  session.kernel("gemm", 1000, 60, {.thread = 1, .api_start = 120});
  session.kernel("relu", 1200, 20, {.thread = 1, .api_start = 310});
  return session;
}

TEST(FrameworkSection, TablesOfOperatorsAndModules) {
  TestSession session = session_with_operators();
  session.marker("Net", 90, 150, 1, "torch.module");
  const TestReport report(session.finish());
  const std::string all = section(report, 10);
  EXPECT_NE(all.find("KERNELS BY OPERATOR"), std::string::npos) << all;
  EXPECT_NE(all.find("KERNELS BY MODULE"), std::string::npos) << all;
  EXPECT_LT(all.find("aten::mm"), all.find("aten::relu")) << all;
  EXPECT_NE(all.find("75.0%"), std::string::npos) << all;
  const std::string first = section(report, 1);
  EXPECT_EQ(first.find("aten::relu"), std::string::npos) << first;
  EXPECT_NE(first.find("... 1 more"), std::string::npos) << first;
}

TEST(FrameworkSection, NothingWhereNothingWasToldOf) {
  const std::string operators = section(TestReport(session_with_operators().finish()), 10);
  EXPECT_NE(operators.find("KERNELS BY OPERATOR"), std::string::npos);
  EXPECT_EQ(operators.find("KERNELS BY MODULE"), std::string::npos) << operators;
  TestSession bare;
  bare.kernel("a", 0, 1);
  EXPECT_EQ(section(TestReport(bare.finish()), 10), "");
}

}  // namespace
}  // namespace gpufl::report
