// SPDX-License-Identifier: Apache-2.0
#include "net/url.hpp"

#include <gtest/gtest.h>

namespace gpufl::net {
namespace {

TEST(Url, HasSchemeHostPortAndPath) {
  const auto url = parse_url("https://gpu.example.com:8443/gpufl/");
  ASSERT_TRUE(url) << url.status().text();
  EXPECT_TRUE(url->is_tls);
  EXPECT_EQ(url->host, "gpu.example.com");
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->path, "/gpufl");
  EXPECT_EQ(url->origin(), "https://gpu.example.com:8443");
}

TEST(Url, TheSchemeSaysThePort) {
  EXPECT_EQ(parse_url("http://a")->port, 80);
  EXPECT_EQ(parse_url("HTTPS://a/")->port, 443);
  EXPECT_EQ(parse_url("https://a:443")->authority(), "a");
  EXPECT_EQ(parse_url("http://a:443")->authority(), "a:443");
}

TEST(Url, AddressesOfVersion6AreInBrackets) {
  const auto url = parse_url("http://[::1]:8080");
  ASSERT_TRUE(url) << url.status().text();
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->authority(), "[::1]:8080");
  EXPECT_TRUE(url->is_loopback());
  EXPECT_FALSE(parse_url("http://[::1"));
  EXPECT_FALSE(parse_url("http://[::1]8080"));
}

TEST(Url, RefusesWhatCannotBeMeant) {
  for (const char* text :
       {"", "example.com", "ftp://a", "http://", "http://:80", "http://a:0", "http://a:65536",
        "http://a:8o", "http://a:", "http://a b", "http://a/b c", "http://a/?q=1", "http://a#b",
        "http://u:p@a", "http://a\r\nX: y", "http://a/\r\nX"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
}

TEST(Url, APasswordIsNotRepeated) {
  const auto url = parse_url("http://me:secret@a");
  ASSERT_FALSE(url);
  EXPECT_EQ(url.status().message().find("secret"), std::string::npos) << url.status().message();
  EXPECT_EQ(parse_url("http://me:sec%40ret@a:3128", true)->user_info, "me:sec@ret");
}

TEST(Url, KnowsLoopback) {
  EXPECT_TRUE(parse_url("http://localhost:1")->is_loopback());
  EXPECT_TRUE(parse_url("http://127.1.2.3")->is_loopback());
  EXPECT_FALSE(parse_url("http://127.example.com")->is_loopback());
  EXPECT_FALSE(parse_url("http://10.0.0.1")->is_loopback());
}

TEST(Url, OnePlaceIsOneHoweverItIsWritten) {
  for (const char* text : {"https://gpu.example.com", "https://gpu.example.com/",
                           "https://gpu.example.com//", "HTTPS://GPU.Example.com:443/"}) {
    EXPECT_TRUE(is_same_place("https://gpu.example.com", text)) << text;
    EXPECT_TRUE(is_same_place(text, "https://gpu.example.com")) << text;
  }
  for (const char* text : {"http://gpu.example.com", "https://gpu.example.com:8443",
                           "https://gpu.example.com/a", "https://example.com", ""}) {
    EXPECT_FALSE(is_same_place("https://gpu.example.com", text)) << text;
  }
  EXPECT_TRUE(is_same_place("https://a/B/", "https://a/B"));
  EXPECT_FALSE(is_same_place("https://a/b", "https://a/B"));
  EXPECT_TRUE(is_same_place("no address", "no address"));
  EXPECT_FALSE(is_same_place("no address", "another"));
}

// RFC 4648, section 10.
TEST(Base64, IsThatOfTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe"), "//4=");
}

}  // namespace
}  // namespace gpufl::net
