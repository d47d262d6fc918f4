// SPDX-License-Identifier: Apache-2.0
#include "report/html/html_page.hpp"

#include <gtest/gtest.h>

namespace gpufl::report {
namespace {

TEST(HtmlPageTest, FieldsThatFollowEachOtherAreOneList) {
  HtmlPage page;
  page.heading("SESSION", "x<y", Tone::Good);
  page.field("app", "a&b");
  page.field("pid", "1", Tone::Warning);
  page.paragraph(4, "text");
  EXPECT_EQ(page.finish(),
            "<h2 id=\"s1\">Session: <span class=\"good\">x&lt;y</span></h2>\n"
            "<dl>\n<dt>app</dt><dd>a&amp;b</dd>\n<dt>pid</dt><dd class=\"warning\">1</dd>\n</dl>\n"
            "<p style=\"margin-left:2em\">text</p>\n");
  ASSERT_EQ(page.headings().size(), 1u);
  EXPECT_EQ(page.headings()[0].id, "s1");
}

TEST(HtmlPageTest, HeadingsAreSentences) {
  HtmlPage page;
  for (const char* title :
       {"GPU TIME", "API CALLS", "GPU 0 METRICS (NVIDIA H200)", "Over time", "GPUFlight report"}) {
    page.heading(title);
  }
  std::vector<std::string> titles;
  for (const HtmlPage::Anchor& heading : page.headings()) titles.push_back(heading.title);
  EXPECT_EQ(titles,
            (std::vector<std::string>{"GPU time", "API calls", "GPU 0 metrics (NVIDIA H200)",
                                      "Over time", "GPUFlight report"}));
}

TEST(HtmlPageTest, TablesCanBeSortedUnlessTheyAreATree) {
  HtmlPage list;
  list.table({{{"kernel", true}, {"time"}, {"more", false, 5}}, {{"<k>", "1 ms", "2"}}});
  const std::string html = list.finish();
  EXPECT_NE(html.find("<table class=\"sortable\">"), std::string::npos);
  EXPECT_NE(html.find("<td class=\"left flexible\" title=\"&lt;k&gt;\">&lt;k&gt;</td>"),
            std::string::npos)
      << html;
  EXPECT_NE(html.find("<td>2</td>"), std::string::npos);
  HtmlPage tree;
  tree.table({{{"scope"}, {"time"}}, {{"outer", "2"}, {"  inner", "1"}}});
  const std::string of_tree = tree.finish();
  EXPECT_EQ(of_tree.find("sortable"), std::string::npos);
  EXPECT_NE(of_tree.find("<td class=\"left flexible\" title=\"  inner\">"), std::string::npos)
      << of_tree;
}

}  // namespace
}  // namespace gpufl::report
