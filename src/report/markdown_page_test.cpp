// SPDX-License-Identifier: Apache-2.0
#include "report/markdown_page.hpp"

#include <gtest/gtest.h>

namespace gpufl::report {
namespace {

TEST(MarkdownPageTest, EscapesWhatMarkdownWouldObey) {
  EXPECT_EQ(escape_markdown("a<b>|c_d*`[x]&#"), "a\\<b\\>\\|c\\_d\\*\\`\\[x\\]\\&\\#");
  EXPECT_EQ(escape_markdown("a\nb\x1b"), "a?b?");
}

TEST(MarkdownPageTest, FieldsAreOneTableAndTreesKeepTheirDepth) {
  MarkdownPage page;
  page.heading("TITLE", "a|b");
  page.field("one", "1");
  page.field("two", "2", Tone::Warning);
  page.table({{{"scope"}, {"count"}}, {{"outer", "1"}, {"  inner", "2"}}});
  page.paragraph(2, "first");
  page.paragraph(4, "second");
  EXPECT_EQ(page.text(),
            "## TITLE: a\\|b\n"
            "\n"
            "| | |\n|---|---|\n| one | 1 |\n| two | **2** |\n"
            "\n"
            "| scope | count |\n|---|---:|\n| outer | 1 |\n| &emsp;inner | 2 |\n"
            "\n"
            "- first\n  - second\n");
}

}  // namespace
}  // namespace gpufl::report
