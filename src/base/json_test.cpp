// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace gpufl::base {
namespace {

Json parsed(std::string_view text) {
  Result<Json> result = Json::parse(text);
  EXPECT_TRUE(result.is_ok()) << text << ": " << result.status().text();
  return result ? *result : Json();
}

std::string error_of(std::string_view text) {
  Result<Json> result = Json::parse(text);
  EXPECT_FALSE(result.is_ok()) << text;
  return result.status().message();
}

TEST(Json, ReadsEveryType) {
  const Json doc = parsed(R"({"a":null,"b":true,"c":-7,"d":2.5e3,"e":"x","f":[1,2],"g":{}})");
  EXPECT_TRUE(doc["a"].is_null());
  EXPECT_TRUE(doc["b"].as_bool());
  EXPECT_EQ(doc["c"].as_integer(), -7);
  EXPECT_EQ(doc["d"].as_number(), 2500.0);
  EXPECT_EQ(doc["e"].as_string(), "x");
  ASSERT_EQ(doc["f"].items().size(), 2U);
  EXPECT_TRUE(doc["g"].is_object());
}

TEST(Json, TellsAbsentFromNull) {
  const Json doc = parsed(R"({"a":null})");
  EXPECT_NE(doc.find("a"), nullptr);
  EXPECT_EQ(doc.find("b"), nullptr);
  EXPECT_TRUE(doc["b"].is_null());
}

TEST(Json, KeepsTheFirstOfDuplicateKeys) {
  EXPECT_EQ(parsed(R"({"a":1,"a":2})")["a"].as_integer(), 1);
}

TEST(Json, IntegersStayExactToTheLimits) {
  const Json doc = parsed("[9223372036854775807,-9223372036854775808,9223372036854775808]");
  EXPECT_EQ(doc.items()[0].as_integer(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(doc.items()[1].as_integer(), std::numeric_limits<int64_t>::min());
  EXPECT_FALSE(doc.items()[2].is_integer());
  EXPECT_TRUE(doc.items()[2].is_number());
}

TEST(Json, DecodesEscapesAndSurrogatePairs) {
  EXPECT_EQ(parsed(R"("\"\\\/\n\tA\u00e9\ud83d\ude00")").as_string(), "\"\\/\n\tA\u00e9\U0001F600");
}

TEST(Json, SaysWhereTheMistakeIs) {
  EXPECT_EQ(error_of("{\n  \"a\": 1,\n  b: 2\n}"), "line 3, column 3: expected a key in quotes");
  EXPECT_EQ(error_of("[1, 2"), "line 1, column 6: expected ',' or ']'");
}

TEST(Json, RemembersLines) {
  const Json doc = parsed("{\n \"a\": 1,\n \"b\": {\n  \"c\": 2}}");
  EXPECT_EQ(doc["a"].line(), 2);
  EXPECT_EQ(doc["b"]["c"].line(), 4);
}

TEST(Json, RefusesWhatIsNotJson) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[1,]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "01",
                           "-",
                           "1.",
                           "1e",
                           "tru",
                           "nul",
                           "\"",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "1 2",
                           "\"\x01\"",
                           "\"\xff\"",
                           "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"",
                           "+1",
                           "NaN",
                           "1e999"}) {
    error_of(text);
  }
}

TEST(Json, BoundsDepthAndSize) {
  EXPECT_NE(error_of(std::string(100, '[')).find("nested too deeply"), std::string::npos);
  EXPECT_TRUE(Json::parse(std::string(60, '[') + std::string(60, ']')).is_ok());
  EXPECT_EQ(Json::parse("[1,2,3]", 4).status().code(), Code::LimitReached);
}

TEST(Json, WritesWhatItReads) {
  const std::string text =
      R"({"a":null,"b":[true,false,1,-2,0.5],"c":{"d":"q\"\\\n\u0001é"},"e":[],"f":{}})";
  EXPECT_EQ(parsed(text).dump(), text);
}

TEST(Json, ReplacesInvalidUtf8WhenWriting) {
  EXPECT_EQ(Json("a\xff"
                 "b")
                .dump(),
            "\"a\xEF\xBF\xBD"
            "b\"");
}

TEST(Json, BuildsDocuments) {
  Json doc = Json::object();
  doc.set("n", 1).set("n", 2).set("list", Json::array());
  EXPECT_EQ(doc.dump(), R"({"n":2,"list":[]})");
}

TEST(Status, CarriesCodeAndErrno) {
  const Status status = Status::from_errno(2, "open x");
  EXPECT_EQ(status.code(), Code::NotFound);
  EXPECT_EQ(status.text(), "NotFound: open x: No such file or directory");
  EXPECT_TRUE(Status::ok().is_ok());
}

}  // namespace
}  // namespace gpufl::base
