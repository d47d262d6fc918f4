// SPDX-License-Identifier: Apache-2.0
#include "server/access_guard.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/constant_time.hpp"
#include "base/secret.hpp"
#include "net/fields.hpp"
#include "net/target.hpp"
#include "text/display.hpp"

namespace gpufl::server {
namespace {

constexpr size_t kSecretBytes = 32;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_state_changing(std::string_view method) {
  return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

bool has_body(const net::HttpRequest& head) {
  const std::string length = head.header("Content-Length");
  return head.has_header("Transfer-Encoding") || length.find_first_not_of('0') != std::string::npos;
}

// As browsers write it: the port only where the scheme does not imply it.
std::string without_usual_port(std::string_view scheme, std::string authority) {
  const std::string_view usual = scheme == "https" ? ":443" : ":80";
  if (authority.ends_with(usual)) authority.resize(authority.size() - usual.size());
  return authority;
}

// Why a host and port are none; empty: they are.
std::string_view mistake_in(std::string_view authority) {
  const size_t colon = authority.find(':', authority.starts_with('[') ? authority.find(']') : 0);
  const std::string_view host = authority.substr(0, colon);
  if (host.empty()) return "has no host";
  const bool is_v6 = host.starts_with('[') && host.ends_with(']');
  const std::string_view allowed =
      is_v6 ? "[]:.0123456789abcdef" : "abcdefghijklmnopqrstuvwxyz0123456789.-_";
  if (host.find_first_not_of(allowed) != std::string_view::npos) {
    return "has a host with other characters than letters, digits, dots and hyphens";
  }
  if (colon == std::string_view::npos) return {};
  const std::string_view port = authority.substr(colon + 1);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool is_port = error == std::errc() && end == port.data() + port.size();
  return is_port && number > 0 && number <= 65535 ? "" : "has no port from 1 to 65535";
}

// Behind a proxy that removes the prefix, such a path could not be told from one that has it.
bool begins_as_ours(std::string_view path) {
  constexpr std::array<std::string_view, 4> kOurs = {"/api", "/assets", "/healthz", "/metrics"};
  const std::string_view first = path.substr(0, path.find('/', 1));
  return std::find(kOurs.begin(), kOurs.end(), first) != kOurs.end();
}

// Bytes that no address has are encoded, as browsers do; others are left as they were written.
std::string in_address(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool is_plain = static_cast<unsigned char>(c) < 0x80;
    out += is_plain ? std::string(1, c) : net::percent_encode(std::string_view(&c, 1));
  }
  return out;
}

// The same page without its token. Behind a prefix it begins with that, because "./" would lose a
// prefix without a slash behind it; else it is "./" and the last segment.
std::string same_page(const net::HttpRequest& request, const std::string& prefix) {
  const size_t last = request.path.rfind('/') + 1;
  std::string location = prefix.empty() ? "./" : prefix;
  for (const char c : std::string_view(request.path).substr(prefix.empty() ? last : 0)) {
    location += c == '/' ? "/" : net::percent_encode(std::string_view(&c, 1));
  }
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    if (name == "token") continue;
    location += separator + net::percent_encode(name) + '=' + net::percent_encode(value);
    separator = '&';
  }
  return location;
}

}  // namespace

base::Result<PublicUrl> parse_public_url(std::string_view written) {
  const auto wrong = [&](std::string_view why) {
    return base::Status(
        base::Code::InvalidArgument,
        fmt::format("'{}' {}; write it as https://HOST/PATH", text::make_harmless(written), why));
  };
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(written.begin(), written.end(), is_control))
    return wrong("has a control character");
  PublicUrl url;
  for (const std::string_view scheme : {"https", "http"}) {
    if (lower(written).starts_with(std::string(scheme) + "://")) url.scheme = scheme;
  }
  if (url.scheme.empty()) return wrong("does not begin with http:// or https://");
  std::string_view rest = written.substr(url.scheme.size() + 3);
  if (rest.find_first_of("?#@;, \\\"<>") != std::string_view::npos) {
    return wrong("has more than a host and a path");
  }
  const size_t slash = rest.find('/');
  url.authority = lower(rest.substr(0, slash));
  if (const auto mistake = mistake_in(url.authority); !mistake.empty()) return wrong(mistake);
  url.authority = without_usual_port(url.scheme, std::move(url.authority));
  rest.remove_prefix(std::min(slash, rest.size()));
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.empty()) return url;
  auto target = net::parse_target("GET", rest);
  if (!target) return wrong("has a path that no request can have");
  if (begins_as_ours(target->path)) {
    return wrong(
        "has a path that begins with /api, /assets, /healthz or /metrics, which are the "
        "server's own");
  }
  url.prefix = in_address(rest);
  url.path = std::move(target->path);
  return url;
}

AccessGuard::AccessGuard(uint16_t port, std::optional<PublicUrl> public_url)
    : port_(port),
      public_url_(std::move(public_url)),
      token_(base::random_hex(kSecretBytes)),
      cookie_(base::random_hex(kSecretBytes)),
      // Cookies are those of a host, whatever the port; two servers must not overwrite each
      // other's.
      cookie_name_("gpufl_" + std::to_string(port)) {}

bool AccessGuard::is_known_host(std::string_view host) const {
  const std::string asked = lower(host);
  for (const std::string_view name : {"127.0.0.1", "[::1]", "localhost"}) {
    if (asked == fmt::format("{}:{}", name, port_)) return true;
    if (port_ == 80 && asked == name) return true;
  }
  return is_public_host(asked);
}

bool AccessGuard::is_public_host(std::string_view host) const {
  return public_url_ &&
         without_usual_port(public_url_->scheme, lower(host)) == public_url_->authority;
}

bool AccessGuard::is_own_origin(std::string_view origin) const {
  const std::string asked = lower(origin);
  const std::string scheme = public_url_ ? public_url_->scheme + "://" : "";
  if (public_url_ && asked.starts_with(scheme) && is_public_host(asked.substr(scheme.size()))) {
    return true;
  }
  constexpr std::string_view kScheme = "http://";
  if (!asked.starts_with(kScheme)) return false;
  const std::string host = asked.substr(kScheme.size());
  return is_known_host(host) && !is_public_host(host);
}

bool AccessGuard::has_secret(const net::HttpRequest& request) const {
  const std::string authorization = request.header("Authorization");
  constexpr std::string_view kBearer = "bearer ";
  if (lower(authorization.substr(0, kBearer.size())) == kBearer &&
      base::equal_in_constant_time(authorization.substr(kBearer.size()), token_)) {
    return true;
  }
  // Servers on other ports of the host may have set one of the same name.
  const net::NamedTexts cookies = net::parse_cookies(request.header("Cookie"));
  return std::any_of(cookies.begin(), cookies.end(), [&](const auto& cookie) {
    return cookie.first == cookie_name_ && base::equal_in_constant_time(cookie.second, cookie_);
  });
}

net::HeadVerdict AccessGuard::check(const net::HttpRequest& head, bool is_open) const {
  // A token is looked at only where the host is meant.
  if (is_known_host(head.header("Host"))) {
    if (auto taken = take_token(head)) return {std::move(taken)};
  }
  return {refuse(head, is_open), has_secret(head)};
}

std::optional<net::HttpReply> AccessGuard::refuse(const net::HttpRequest& request,
                                                  bool is_open) const {
  if (!is_known_host(request.header("Host"))) {
    return net::problem(421, "Unknown host",
                        "this server answers to 127.0.0.1, [::1] and localhost with its port, and "
                        "to the host of --public-url");
  }
  // "none": typed or opened by the user. A page of another port is "same-site".
  const std::string site = request.header("Sec-Fetch-Site");
  const bool is_foreign = !site.empty() && site != "same-origin" && site != "none";
  const bool is_foreign_origin =
      request.has_header("Origin") && !is_own_origin(request.header("Origin"));
  const bool is_page = is_open && !is_state_changing(request.method) && !has_body(request);
  if (!is_page && (is_foreign || is_foreign_origin)) {
    return net::problem(403, "Another site's request",
                        "pages of other sites may not use this server");
  }
  if (is_page || has_secret(request)) return std::nullopt;
  net::HttpReply reply =
      net::problem(401, "No token",
                   "open the address that gpufl printed when it started, or send its token as "
                   "'Authorization: Bearer TOKEN'");
  reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

std::optional<net::HttpReply> AccessGuard::take_token(const net::HttpRequest& request) const {
  if (request.method != "GET" || request.path.starts_with("/api/")) return std::nullopt;
  const auto token = request.query_value("token");
  if (!token) return std::nullopt;
  if (!base::equal_in_constant_time(*token, token_)) {
    return net::problem(401, "Wrong token",
                        "the token changes whenever the server starts; open the address that it "
                        "printed last");
  }
  net::HttpReply reply;
  reply.status = 303;
  const bool is_secure =
      public_url_ && public_url_->scheme == "https" && is_public_host(request.header("Host"));
  const std::string prefix = public_url_ ? public_url_->prefix : "";
  reply.headers.emplace_back(
      "Set-Cookie",
      net::set_cookie(cookie_name_, cookie_, prefix.empty() ? "/" : prefix, -1, is_secure));
  reply.headers.emplace_back("Location", same_page(request, prefix));
  reply.headers.emplace_back("Cache-Control", "no-store");
  return reply;
}

}  // namespace gpufl::server
