// SPDX-License-Identifier: Apache-2.0
#include "report/text_page.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpufl::report {
namespace {

TEST(TextPageTest, WrapsAtSpacesAndBreaksWhatHasNone) {
  TextPage page(20, false);
  page.paragraph(2, "one two three four five", Tone::Plain, 2);
  page.paragraph(0, std::string(25, 'x'));
  page.paragraph(0, "");
  EXPECT_EQ(page.text(), "  one two three four\n    five\nxxxxxxxxxxxxxxxxxxxx\nxxxxx\n\n");
}

TEST(TextPageTest, FieldsWrapBelowTheirValue) {
  TextPage page(40, false);
  page.field("command", "./train --steps 100");
  page.field("id", "short");
  EXPECT_EQ(page.text(),
            "  command                   ./train\n"
            "                            --steps 100\n"
            "  id                        short\n");
}

TEST(TextPageTest, NeverBreaksAPathOrACommand) {
  TextPage page(40, false);
  page.field("log", "gpufl-logs/20261117T000842.846429Z-f2 and more");
  page.paragraph(0, "gpufl report gpufl-logs/20261117T000842.846429Z-f2de544be60b", Tone::Plain, 2);
  page.command("all the rest", "gpufl report --full gpufl-logs/20261117T000842");
  EXPECT_EQ(page.text(),
            "  log                       gpufl-logs/20261117T000842.846429Z-f2\n"
            "                            and more\n"
            "gpufl report\n"
            "  gpufl-logs/20261117T000842.846429Z-f2de544be60b\n"
            "  all the rest              gpufl report --full gpufl-logs/20261117T000842\n");
}

TEST(TextPageTest, CutsParagraphsAfterAsManyLinesAsAreAllowed) {
  TextPage page(20, false);
  EXPECT_EQ(page.limit_paragraphs(2), 0u);
  page.paragraph(0, "one two three four five six seven eight nine", Tone::Plain, 2);
  page.paragraph(0, "/a/path/that/is/longer/than/two/lines/of/it/are", Tone::Plain, 2);
  page.paragraph(0, "short");
  EXPECT_EQ(page.limit_paragraphs(0), 2u);
  page.paragraph(0, "one two three four five six");
  EXPECT_EQ(page.text(),
            "one two three four\n"
            "  five six seven ...\n"
            "/a/path/that/is/long\n"
            "  er/than/two/lin...\n"
            "short\n"
            "one two three four\n"
            "five six\n");
}

TEST(TextPageTest, TablesAlignAndCutTheFirstColumn) {
  TextPage page(24, false);
  page.table({{{"name"}, {"count"}, {"note", true}},
              {{"a_rather_long_name", "1", "x"}, {"b", "12,345", "yy"}}});
  EXPECT_EQ(page.text(),
            "  name       count  note\n"
            "  a_rat...       1  x\n"
            "  b         12,345  yy\n");
}

TEST(TextPageTest, NamesThatDifferBehindTheCutKeepTheirEnd) {
  TextPage page(24, false);
  page.table({{{"name"}, {"count"}},
              {{"kernel_of_float_add_one", "1"},
               {"kernel_of_float_multiply", "2"},
               {"another_rather_long_one", "3"},
               {"another_rather_long_one", "4"}}});
  EXPECT_EQ(page.text(),
            "  name             count\n"
            "  kernel...dd_one      1\n"
            "  kernel...ltiply      2\n"
            "  another_rath...      3\n"
            "  another_rath...      4\n");
}

TEST(TextPageTest, AnyColumnMayBeTheFlexibleOne) {
  TextPage page(20, false);
  page.table({{{"time"}, {"text"}}, {{"1.5 s", "a text that is long"}}, 1});
  EXPECT_EQ(page.text(), "   time  text\n  1.5 s  a text t...\n");
}

TEST(TextPageTest, NarrowTablesDropColumnsInOrder) {
  const TextTable table{{{"name"}, {"keep"}, {"second", false, 1}, {"first", false, 2}},
                        {{"a_name_of_25_characters__", "1111111111", "2222222222", "3333333333"}}};
  TextPage wide(80, false);
  wide.table(table);
  EXPECT_NE(wide.text().find("first"), std::string::npos);
  TextPage narrow(50, false);
  narrow.table(table);
  EXPECT_TRUE(wide.shows(table, "first"));
  EXPECT_FALSE(wide.shows(table, "third"));
  EXPECT_FALSE(narrow.shows(table, "first"));
  EXPECT_TRUE(narrow.shows(table, "second"));
  EXPECT_EQ(narrow.text().find("first"), std::string::npos);
  EXPECT_NE(narrow.text().find("second"), std::string::npos);
  TextPage narrower(36, false);
  narrower.table(table);
  EXPECT_EQ(narrower.text().find("second"), std::string::npos);
  EXPECT_NE(narrower.text().find("keep"), std::string::npos);
}

TEST(TextPageTest, ColorsOnlyWhenAsked) {
  TextPage plain(80, false);
  plain.heading("LEDGER", "complete", Tone::Good);
  EXPECT_EQ(plain.text(), "LEDGER: complete\n");
  TextPage colored(80, true);
  colored.heading("LEDGER", "complete", Tone::Good);
  EXPECT_EQ(colored.text(), "\x1b[1mLEDGER\x1b[0m: \x1b[32mcomplete\x1b[0m\n");
}

}  // namespace
}  // namespace gpufl::report
