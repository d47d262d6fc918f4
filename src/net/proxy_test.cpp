// SPDX-License-Identifier: Apache-2.0
#include "net/proxy.hpp"

#include <gtest/gtest.h>

#include <map>

namespace gpufl::net {
namespace {

std::string chosen(const std::string& url, const std::map<std::string, std::string>& set) {
  const auto proxy = proxy_for(*parse_url(url), [&](const std::string& name) {
    const auto at = set.find(name);
    return at == set.end() ? "" : at->second;
  });
  if (!proxy) return "refused: " + proxy.status().message();
  return *proxy ? (*proxy)->authority() : "none";
}

TEST(Proxy, IsThatOfTheScheme) {
  const std::map<std::string, std::string> set = {{"HTTPS_PROXY", "http://one:1"},
                                                  {"http_proxy", "two:2"}};
  EXPECT_EQ(chosen("https://a.com", set), "one:1");
  EXPECT_EQ(chosen("http://a.com", set), "two:2");
  EXPECT_EQ(chosen("http://a.com", {{"HTTP_PROXY", "http://evil:1"}}), "none")
      << "a request's Proxy field would be in it";
  EXPECT_EQ(chosen("https://a.com", {{"ALL_PROXY", "http://all:3"}}), "all:3");
  EXPECT_EQ(chosen("https://a.com", {}), "none");
}

TEST(Proxy, IsNotForThisMachine) {
  const std::map<std::string, std::string> set = {{"ALL_PROXY", "http://all:3"}};
  EXPECT_EQ(chosen("http://127.0.0.1:80", set), "none");
  EXPECT_EQ(chosen("https://localhost", set), "none");
}

TEST(Proxy, IsNotForThoseInNoProxy) {
  const auto with = [](const char* without, const char* url) {
    return chosen(url, {{"all_proxy", "http://p:1"}, {"NO_PROXY", without}});
  };
  EXPECT_EQ(with("x.org, a.com", "http://a.com"), "none");
  EXPECT_EQ(with("a.com", "http://b.A.com"), "none");
  EXPECT_EQ(with(".a.com", "http://b.a.com"), "none");
  EXPECT_EQ(with("a.com", "http://ba.com"), "p:1");
  EXPECT_EQ(with("a.com:8080", "http://a.com"), "p:1");
  EXPECT_EQ(with("a.com:80", "http://a.com"), "none");
  EXPECT_EQ(with("*", "http://a.com"), "none");
  EXPECT_EQ(with("[fd00::1]", "http://[fd00::1]:8080"), "none");
}

TEST(Proxy, SaysWhichVariableIsWrong) {
  EXPECT_EQ(chosen("http://a.com", {{"http_proxy", "socks5://p:1"}}),
            "refused: http_proxy: 'socks5://p:1' is neither http:// nor https://");
  EXPECT_TRUE(chosen("http://a.com", {{"http_proxy", "https://p:1"}})
                  .starts_with("refused: http_proxy names a proxy that is spoken to by TLS"));
}

}  // namespace
}  // namespace gpufl::net
