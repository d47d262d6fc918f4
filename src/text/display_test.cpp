// SPDX-License-Identifier: Apache-2.0
#include "text/display.hpp"

#include <gtest/gtest.h>

namespace gpufl::text {
namespace {

TEST(DisplayTest, MakesTextHarmless) {
  EXPECT_EQ(make_harmless("plain"), "plain");
  EXPECT_EQ(make_harmless("a\x1b[31mb\n\tc\x7f"), "a?[31mb??c?");
  EXPECT_EQ(make_harmless("gr\xc3\xb6\xc3\x9f"), "gr\xc3\xb6\xc3\x9f");
  EXPECT_EQ(make_harmless("cut \xe2\x82"), "cut ??");
  EXPECT_EQ(make_harmless("c1 \xc2\x9b!"), "c1 ?!");
  EXPECT_EQ(make_harmless("overlong \xc0\xaf"), "overlong ??");
  EXPECT_EQ(make_harmless("surrogate \xed\xa0\x80"), "surrogate ???");
  EXPECT_EQ(make_harmless("right to left \xe2\x80\xae."), "right to left ?.");
}

TEST(DisplayTest, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(shell_word("logs/2025-01_a.b:c=1"), "logs/2025-01_a.b:c=1");
  EXPECT_EQ(shell_word("upd*"), "'upd*'");
  EXPECT_EQ(shell_word("void f<int>(int*)"), "'void f<int>(int*)'");
  EXPECT_EQ(shell_word("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a\nb"), "'a?b'");
}

TEST(DisplayTest, MeasuresAndCutsByColumnsNotBytes) {
  EXPECT_EQ(display_width("gr\xc3\xb6\xc3\x9f"), 4u);
  EXPECT_EQ(display_width("\xe6\xbc\xa2\xe5\xad\x97"), 4u);
  EXPECT_EQ(fit("forward_pass", 12), "forward_pass");
  EXPECT_EQ(fit("forward_pass", 11), "forward_...");
  EXPECT_EQ(fit("gr\xc3\xb6\xc3\x9f"
                "er",
                5),
            "gr...");
  EXPECT_EQ(fit("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 5), "\xe6\xbc\xa2...");
  EXPECT_EQ(fit("long", 2), "..");
}

}  // namespace
}  // namespace gpufl::text
