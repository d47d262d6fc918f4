// SPDX-License-Identifier: Apache-2.0
#include "server/access_guard.hpp"

#include <gtest/gtest.h>

#include "net/fields.hpp"

namespace gpufl::server {
namespace {

constexpr uint16_t kPort = 9486;

net::HttpRequest asked(std::string path, net::NamedTexts headers = {},
                       std::string host = "127.0.0.1:9486") {
  net::HttpRequest request;
  request.path = std::move(path);
  request.headers = std::move(headers);
  request.headers.emplace_back("Host", std::move(host));
  return request;
}

int refusal(const AccessGuard& guard, const net::HttpRequest& request, bool is_open = false) {
  const auto reply = guard.refuse(request, is_open);
  return reply ? reply->status : 0;
}

net::NamedTexts bearer(const AccessGuard& guard) {
  return {{"Authorization", "Bearer " + guard.token()}};
}

TEST(AccessGuard, SecretsAreLongAndDiffer) {
  const AccessGuard a(kPort, {}), b(kPort, {});
  EXPECT_EQ(a.token().size(), 64U);
  EXPECT_NE(a.token(), b.token());
  EXPECT_EQ(a.cookie_name(), "gpufl_9486");
}

TEST(AccessGuard, AnswersOnlyToHostsThatAreMeant) {
  const AccessGuard guard(kPort, *parse_public_url("https://GPU.example.org/profiles/"));
  for (const char* host :
       {"127.0.0.1:9486", "localhost:9486", "LOCALHOST:9486", "[::1]:9486", "gpu.example.org"}) {
    EXPECT_EQ(refusal(guard, asked("/", bearer(guard), host)), 0) << host;
  }
  for (const char* host : {"", "127.0.0.1", "localhost", "127.0.0.1:80", "127.0.0.2:9486",
                           "evil.example:9486", "localhost.evil.example:9486", "0.0.0.0:9486",
                           "gpu.example.org:9486", "127.0.0.1:9486, evil.example"}) {
    EXPECT_EQ(refusal(guard, asked("/", bearer(guard), host)), 421) << host;
    EXPECT_EQ(refusal(guard, asked("/healthz", {}, host), true), 421) << host;
  }
  EXPECT_EQ(refusal(AccessGuard(80, {}), asked("/", {}, "localhost"), true), 0);
}

TEST(AccessGuard, AHostMayHaveTheUsualPort) {
  const AccessGuard tls(kPort, *parse_public_url("https://gpu.example.org"));
  const AccessGuard plain(kPort, *parse_public_url("http://gpu.example.org:80"));
  const AccessGuard other(kPort, *parse_public_url("https://gpu.example.org:8443"));
  const auto host = [&](const AccessGuard& guard, const char* text) {
    return refusal(guard, asked("/", {}, text), true);
  };
  EXPECT_EQ(host(tls, "GPU.example.org:443"), 0);
  EXPECT_EQ(host(tls, "gpu.example.org:80"), 421);
  EXPECT_EQ(host(plain, "gpu.example.org:80"), 0);
  EXPECT_EQ(host(plain, "gpu.example.org"), 0);
  EXPECT_EQ(host(plain, "gpu.example.org:443"), 421);
  EXPECT_EQ(host(other, "gpu.example.org:8443"), 0);
  EXPECT_EQ(host(other, "gpu.example.org"), 421);
  EXPECT_EQ(host(other, "gpu.example.org:443"), 421);
}

// Nobody reads a body there, so a stranger could only hold a connection with it.
TEST(AccessGuard, AnOpenPathIsOneWithoutABody) {
  const AccessGuard guard(kPort, {});
  const auto with = [&](net::NamedTexts headers, const char* method = "GET") {
    net::HttpRequest request = asked("/healthz", std::move(headers));
    request.method = method;
    return refusal(guard, request, true);
  };
  EXPECT_EQ(with({{"Content-Length", "0"}}), 0);
  EXPECT_EQ(with({{"Content-Length", "10"}}), 401);
  EXPECT_EQ(with({{"Transfer-Encoding", "chunked"}}), 401);
  EXPECT_EQ(with({}, "PUT"), 401);
  EXPECT_EQ(with(bearer(guard), "PUT"), 0);
}

TEST(AccessGuard, TrustsWhoHasTheSecret) {
  const AccessGuard guard(kPort, {});
  const auto verdict = [&](const net::HttpRequest& request, bool is_open) {
    const net::HeadVerdict found = guard.check(request, is_open);
    return std::to_string(found.reply ? found.reply->status : 0) + (found.is_trusted ? "+" : "-");
  };
  EXPECT_EQ(verdict(asked("/api", bearer(guard)), false), "0+");
  EXPECT_EQ(verdict(asked("/api"), false), "401-");
  EXPECT_EQ(verdict(asked("/"), true), "0-");
  net::HttpRequest taking = asked("/");
  taking.query = {{"token", guard.token()}};
  EXPECT_EQ(verdict(taking, true), "303-");
  taking.headers = {{"Host", "evil.example"}};
  EXPECT_EQ(verdict(taking, true), "421-") << "a token is looked at only where the host is meant";
}

TEST(AccessGuard, NeedsTheTokenButForOpenPaths) {
  const AccessGuard guard(kPort, {});
  EXPECT_EQ(refusal(guard, asked("/api/v1/sessions")), 401);
  EXPECT_EQ(refusal(guard, asked("/healthz"), true), 0);
  EXPECT_EQ(refusal(guard, asked("/api/v1/sessions", bearer(guard))), 0);
  for (const std::string& value :
       {"Bearer " + guard.token() + "0", "Bearer " + guard.token().substr(1),
        "Bearer " + std::string(64, '0'), std::string("Bearer "), "Basic " + guard.token(),
        guard.token()}) {
    EXPECT_EQ(refusal(guard, asked("/api/v1/sessions", {{"Authorization", value}})), 401) << value;
  }
  // The token is not the cookie.
  EXPECT_EQ(refusal(guard, asked("/", {{"Cookie", "gpufl_9486=" + guard.token()}})), 401);
}

TEST(AccessGuard, TheTokenOfTheAddressBecomesACookieAndLeavesIt) {
  const AccessGuard guard(kPort, {});
  net::HttpRequest first = asked("/");
  EXPECT_FALSE(guard.take_token(first));
  first.query = {{"token", guard.token()}, {"q", "a b"}};
  const auto reply = guard.take_token(first);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 303);
  EXPECT_EQ(*net::find_header(reply->headers, "Location"), "./?q=a%20b");
  const std::string cookie = *net::find_header(reply->headers, "Set-Cookie");
  EXPECT_NE(cookie.find("; HttpOnly; SameSite=Strict"), std::string::npos) << cookie;
  EXPECT_EQ(cookie.find("Secure"), std::string::npos);
  EXPECT_EQ(cookie.find(guard.token()), std::string::npos);
  const std::string pair = cookie.substr(0, cookie.find(';'));
  EXPECT_EQ(refusal(guard, asked("/api/v1/sessions", {{"Cookie", "other=1; " + pair}})), 0);

  first.query = {{"token", std::string(64, '0')}};
  EXPECT_EQ(guard.take_token(first)->status, 401);
  // Not for the API, whose addresses are not typed.
  net::HttpRequest api = asked("/api/v1/sessions");
  api.query = {{"token", guard.token()}};
  EXPECT_FALSE(guard.take_token(api));
}

TEST(AccessGuard, BehindAProxyWithTlsTheCookieIsSecure) {
  const AccessGuard guard(kPort, *parse_public_url("https://gpu.example.org/profiles"));
  net::HttpRequest request = asked("/", {}, "gpu.example.org");
  request.query = {{"token", guard.token()}};
  const auto reply = guard.take_token(request);
  EXPECT_TRUE(net::find_header(reply->headers, "Set-Cookie")->ends_with("; Secure"));
}

TEST(AccessGuard, BehindAPrefixTheCookieIsThatOfThePrefix) {
  const auto path_of = [](const std::string& cookie) {
    const size_t begin = cookie.find("Path=");
    return cookie.substr(begin, cookie.find(';', begin) - begin);
  };
  // Whether the proxy names its own host or ours.
  for (const char* host : {"gpu.example.org", "127.0.0.1:9486"}) {
    for (const char* url : {"https://gpu.example.org/profiles", "https://gpu.example.org"}) {
      const AccessGuard guard(kPort, *parse_public_url(url));
      const bool has_prefix = std::string_view(url).ends_with("profiles");
      net::HttpRequest request = asked("/", {}, host);
      request.query = {{"token", guard.token()}, {"q", "1"}};
      const auto reply = guard.take_token(request);
      ASSERT_TRUE(reply);
      EXPECT_EQ(path_of(*net::find_header(reply->headers, "Set-Cookie")),
                has_prefix ? "Path=/profiles" : "Path=/");
      EXPECT_EQ(*net::find_header(reply->headers, "Location"),
                has_prefix ? "/profiles/?q=1" : "./?q=1");
    }
  }
}

TEST(AccessGuard, PagesOfOtherSitesMayNotUseIt) {
  const AccessGuard guard(kPort, *parse_public_url("https://gpu.example.org"));
  const auto with = [&](const char* name, const char* value, const char* method = "GET") {
    net::NamedTexts headers = bearer(guard);
    headers.emplace_back(name, value);
    net::HttpRequest request = asked("/api/v1/sessions", std::move(headers));
    request.method = method;
    return refusal(guard, request);
  };
  for (const char* origin :
       {"http://127.0.0.1:9486", "http://localhost:9486", "https://gpu.example.org"}) {
    EXPECT_EQ(with("Origin", origin, "PUT"), 0) << origin;
  }
  for (const char* origin : {"null", "http://evil.example", "http://127.0.0.1:9487",
                             "https://127.0.0.1:9486", "http://gpu.example.org", ""}) {
    EXPECT_EQ(with("Origin", origin, "PUT"), 403) << origin;
    EXPECT_EQ(with("Origin", origin), 403) << origin;
  }
  EXPECT_EQ(with("Sec-Fetch-Site", "same-origin", "PUT"), 0);
  EXPECT_EQ(with("Sec-Fetch-Site", "none"), 0);
  EXPECT_EQ(with("Sec-Fetch-Site", "cross-site", "PUT"), 403);
  // Another port of this machine.
  EXPECT_EQ(with("Sec-Fetch-Site", "same-site"), 403);
  // A link from elsewhere may lead to the page, which has nothing in it.
  EXPECT_EQ(refusal(guard, asked("/", {{"Sec-Fetch-Site", "cross-site"}}), true), 0);
}

TEST(PublicUrl, IsAHostAndAPath) {
  const auto url = parse_public_url("HTTPS://Host.example:8443/a/b/");
  ASSERT_TRUE(url) << url.status().text();
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->authority, "host.example:8443");
  EXPECT_EQ(url->prefix, "/a/b");
  EXPECT_EQ(url->path, "/a/b");
  EXPECT_EQ(parse_public_url("http://host")->prefix, "");
  const auto encoded = parse_public_url("https://host/gpu%20lab/\xc3\xbc");
  ASSERT_TRUE(encoded) << encoded.status().text();
  EXPECT_EQ(encoded->prefix, "/gpu%20lab/%C3%BC");
  EXPECT_EQ(encoded->path, "/gpu lab/\xc3\xbc");
  EXPECT_EQ(parse_public_url("http://[::1]:8080/x")->authority, "[::1]:8080");
  EXPECT_EQ(parse_public_url("http://[::1]:80")->authority, "[::1]");
  EXPECT_TRUE(parse_public_url("https://host/apis/api"));
  EXPECT_EQ(parse_public_url("https://host:443/")->authority, "host");
  EXPECT_EQ(parse_public_url("http://host:80")->authority, "host");
  for (const char* wrong : {"",
                            "host",
                            "ftp://host",
                            "https://",
                            "https:///x",
                            "https://u@host",
                            "https://host/?q",
                            "https://host/#x",
                            "https://host/a b",
                            "https://host/a;b",
                            "https://host:99999",
                            "https://host:0",
                            "https://host:",
                            "https://host:x",
                            "https://h:1:2",
                            "https://[::1",
                            "https://h\xc3\xb6st",
                            "https://host/a\r\nX: 1",
                            "https://host/\t",
                            "https://host/a%0d%0a",
                            "https://host/%",
                            "https://host/../a",
                            "https://host//a",
                            "https://host/api",
                            "https://host/api/v1",
                            "https://host/%61pi/",
                            "https://host/assets/x",
                            "https://host/healthz",
                            "https://host/metrics/"}) {
    EXPECT_FALSE(parse_public_url(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace gpufl::server
