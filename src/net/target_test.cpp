// SPDX-License-Identifier: Apache-2.0
#include "net/target.hpp"

#include <gtest/gtest.h>

namespace gpufl::net {
namespace {

TEST(Target, DecodesPercentCodes) {
  EXPECT_EQ(percent_decode("a%20b%2F%c3%A9+"), "a b/\xc3\xa9+");
  EXPECT_EQ(percent_decode(""), "");
  for (const char* bad : {"%", "%2", "a%", "%g0", "%0g", "%%20", "% 20", "%-1"}) {
    EXPECT_FALSE(percent_decode(bad)) << bad;
  }
}

TEST(Target, EncodesWhatItDecodes) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(percent_decode(percent_encode(all)), all);
  EXPECT_EQ(percent_encode("a-Z.0_~/ ?"), "a-Z.0_~%2F%20%3F");
}

TEST(Target, ReadsQueries) {
  EXPECT_EQ(
      *parse_query("a=1&b=x+y%26z&c&=4&&a=2&d=e=f"),
      (NamedTexts{{"a", "1"}, {"b", "x y&z"}, {"c", ""}, {"", "4"}, {"a", "2"}, {"d", "e=f"}}));
  EXPECT_EQ(*parse_query(R"(q="a=b;c"&z=1)"), (NamedTexts{{"q", R"("a=b;c")"}, {"z", "1"}}));
  EXPECT_TRUE(parse_query("")->empty());
  EXPECT_TRUE(parse_query("&&")->empty());
  for (const char* bad : {"%", "a=%", "a=1&b=%4", "%zz=1"}) EXPECT_FALSE(parse_query(bad)) << bad;
}

std::string path_of(std::string_view target, std::string_view method = "GET") {
  const auto parsed = parse_target(method, target);
  return parsed ? parsed->path : "refused";
}

TEST(Target, ReadsThePath) {
  EXPECT_EQ(path_of("/"), "/");
  EXPECT_EQ(path_of("/a/b?c=/../d"), "/a/b");
  EXPECT_EQ(path_of("/a/b/"), "/a/b/");
  EXPECT_EQ(path_of("/%41/...?"), "/A/...");
  EXPECT_EQ(path_of("/.hidden/a..b"), "/.hidden/a..b");
  EXPECT_EQ(path_of("http://host:80/a?b"), "/a");
  EXPECT_EQ(path_of("https://host"), "/");
  EXPECT_EQ(path_of("*", "OPTIONS"), "*");
  EXPECT_EQ(parse_target("GET", "/a?b=1")->query, (NamedTexts{{"b", "1"}}));
}

TEST(Target, AWholeAddressNamesItsHost) {
  EXPECT_EQ(parse_target("GET", "http://Host:80/a?b")->authority, "Host:80");
  EXPECT_EQ(parse_target("GET", "https://[::1]:8")->authority, "[::1]:8");
  EXPECT_EQ(parse_target("GET", "http://host?a=1"), std::nullopt) << "it has no path";
  EXPECT_EQ(parse_target("GET", "http://user@host/"), std::nullopt);
  EXPECT_EQ(parse_target("GET", "http://host#x"), std::nullopt);
  EXPECT_EQ(parse_target("GET", "/a")->authority, "");
}

TEST(Target, RefusesPathsThatCouldMeanAnother) {
  for (const char* bad :
       {"",          "a",         "*",           "?a=1",           "//",      "//a",
        "/a//b",     "/.",        "/..",         "/../etc/passwd", "/a/../b", "/a/..",
        "/%2e%2e/a", "/a/%2E%2e", "/a%2f..%2fb", "/a%2F%2Fb",      "/a%00b",  "/a%0Ab",
        "/%7f",      "/a%",       "/a?b=%",      "/a#b",           "/a?b#c",  "http://",
        "http:///a", "host:80",   "http://?a"}) {
    EXPECT_EQ(path_of(bad), "refused") << bad;
  }
}

}  // namespace
}  // namespace gpufl::net
