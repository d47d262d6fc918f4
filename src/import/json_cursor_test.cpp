// SPDX-License-Identifier: Apache-2.0
#include "import/json_cursor.hpp"

#include <gtest/gtest.h>

namespace gpufl::importing {
namespace {

using State = JsonCursor::State;

TEST(ToNanoseconds, KeepsEveryDigit) {
  EXPECT_EQ(to_nanoseconds("3854095878962.213"), 3854095878962213);
  EXPECT_EQ(to_nanoseconds("1790857026000000.001"), 1790857026000000001);
  EXPECT_EQ(to_nanoseconds("4.16"), 4160);
  EXPECT_EQ(to_nanoseconds("12"), 12000);
  EXPECT_EQ(to_nanoseconds("-3.5"), -3500);
  EXPECT_EQ(to_nanoseconds("0.736"), 736);
}

TEST(ToNanoseconds, RoundsWhatIsBelowANanosecond) {
  EXPECT_EQ(to_nanoseconds("1.0004"), 1000);
  EXPECT_EQ(to_nanoseconds("1.0005"), 1001);
  EXPECT_EQ(to_nanoseconds("0.00005"), 0);
  EXPECT_EQ(to_nanoseconds("5e-8"), 0);
  EXPECT_EQ(to_nanoseconds("1.00000000000000000000009"), 1000);
}

TEST(ToNanoseconds, TakesExponents) {
  EXPECT_EQ(to_nanoseconds("1.5e3"), 1500000);
  EXPECT_EQ(to_nanoseconds("1.5E+03"), 1500000);
  EXPECT_EQ(to_nanoseconds("1500e-3"), 1500);
}

TEST(ToNanoseconds, RefusesWhatIsNoNumberOrTooLarge) {
  for (const char* text :
       {"", "-", ".", "nan", "1.2.3", "1x", "1e", "1e999", "9223372036854775807"}) {
    EXPECT_FALSE(to_nanoseconds(text).has_value()) << text;
  }
}

TEST(JsonCursor, UnescapesStrings) {
  std::string scratch;
  JsonCursor cursor(R"("a\"b\\\n\u00e9\ud83d\ude00\ud800x")");
  EXPECT_EQ(cursor.string(scratch), "a\"b\\\n\xC3\xA9\xF0\x9F\x98\x80\xEF\xBF\xBDx");
  EXPECT_TRUE(cursor.is_good());
}

TEST(JsonCursor, RefusesEscapesThatAreNone) {
  for (const char* text : {R"("\x")", R"("\u12")", R"("\u12g4")"}) {
    std::string scratch;
    JsonCursor cursor(text);
    cursor.string(scratch);
    EXPECT_EQ(cursor.state(), State::Wrong) << text;
  }
}

TEST(JsonCursor, StarvesAtEveryPlaceWhereTextCanEnd) {
  const std::string text = R"({"a\"":[1,-2.5,{"b":"\\"}],"c":null} )";
  for (size_t size = 0; size < text.size() - 1; ++size) {
    JsonCursor cursor(std::string_view(text).substr(0, size));
    cursor.skip();
    EXPECT_EQ(cursor.state(), State::Starved) << size;
  }
  JsonCursor cursor(text);
  cursor.skip();
  EXPECT_TRUE(cursor.is_good());
  EXPECT_EQ(cursor.offset(), text.size() - 1);
}

TEST(JsonCursor, RefusesWhatIsNoJson) {
  for (const char* text : {"]", "}", ",", ":"}) {
    JsonCursor cursor(text);
    cursor.skip();
    EXPECT_EQ(cursor.state(), State::Wrong) << text;
  }
  const std::string nested(100, '[');
  JsonCursor deep(nested);
  deep.skip();
  EXPECT_EQ(deep.state(), State::Wrong);
}

TEST(JsonCursor, WalksMembers) {
  std::string scratch, seen;
  JsonCursor cursor(R"( { "a" : 1 , "b" : [ ] , "c" : "x" } )");
  cursor.object(scratch, [&](std::string_view key) {
    seen += key;
    cursor.skip();
  });
  EXPECT_TRUE(cursor.is_good());
  EXPECT_EQ(seen, "abc");
}

}  // namespace
}  // namespace gpufl::importing
