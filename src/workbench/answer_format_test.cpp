// SPDX-License-Identifier: Apache-2.0
#include "workbench/answer_format.hpp"

#include <gtest/gtest.h>

#include "workbench/compare.hpp"
#include "workbench/report.hpp"

namespace gpufl::workbench {
namespace {

TEST(AnswerFormatTest, EveryUseCaseKnowsItsOwn) {
  EXPECT_EQ(listed(kReportFormats), "text, json, md or html");
  EXPECT_EQ(listed(kDiffFormats), "text, md or json");
  EXPECT_EQ(listed(kGateFormats), "text, md, json or junit");
  EXPECT_EQ(*format_named("md", kDiffFormats), Format::Markdown);
  const auto refused = format_named("html", kDiffFormats);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code(), base::Code::InvalidArgument);
  EXPECT_EQ(refused.status().message(), "no format 'html': text, md or json");
}

}  // namespace
}  // namespace gpufl::workbench
