// SPDX-License-Identifier: Apache-2.0
#include "server/access_guard.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/constant_time.hpp"
#include "net/fields.hpp"
#include "net/target.hpp"

namespace gpufl::server {
namespace {

constexpr size_t kSecretBytes = 32;

std::string random_secret() {
  std::array<unsigned char, kSecretBytes> bytes{};
  // Up to 256 bytes come whole. Without them there is no server worth starting.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_state_changing(std::string_view method) {
  return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

// The same page without its token. Behind a prefix it begins with that, because "./" would lose a
// prefix without a slash behind it; else it is "./" and the last segment.
std::string same_page(const net::HttpRequest& request, const std::string& prefix) {
  const size_t last = request.path.rfind('/') + 1;
  std::string location = prefix.empty() ? "./" : prefix + request.path.substr(0, last);
  location += net::percent_encode(std::string_view(request.path).substr(last));
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    if (name == "token") continue;
    location += separator + net::percent_encode(name) + '=' + net::percent_encode(value);
    separator = '&';
  }
  return location;
}

}  // namespace

base::Result<PublicUrl> parse_public_url(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return base::Status(
        base::Code::InvalidArgument,
        fmt::format("'{}' {}; write it as https://HOST/PATH", std::string(text), why));
  };
  PublicUrl url;
  for (const std::string_view scheme : {"https", "http"}) {
    if (lower(text).starts_with(std::string(scheme) + "://")) url.scheme = scheme;
  }
  if (url.scheme.empty()) return wrong("does not begin with http:// or https://");
  std::string_view rest = text.substr(url.scheme.size() + 3);
  if (rest.find_first_of("?#@;, \\\"<>") != std::string_view::npos) {
    return wrong("has more than a host and a path");
  }
  const size_t slash = rest.find('/');
  url.authority = lower(rest.substr(0, slash));
  // As browsers write it: the port only where the scheme does not imply it.
  const std::string_view usual = url.scheme == "https" ? ":443" : ":80";
  if (url.authority.ends_with(usual)) {
    url.authority.resize(url.authority.size() - usual.size());
  }
  if (url.authority.empty()) return wrong("has no host");
  if (slash != std::string_view::npos) url.prefix = rest.substr(slash);
  while (url.prefix.ends_with('/')) url.prefix.pop_back();
  return url;
}

AccessGuard::AccessGuard(uint16_t port, std::optional<PublicUrl> public_url)
    : port_(port),
      public_url_(std::move(public_url)),
      token_(random_secret()),
      cookie_(random_secret()),
      // Cookies are those of a host, whatever the port; two servers must not overwrite each
      // other's.
      cookie_name_("gpufl_" + std::to_string(port)) {}

bool AccessGuard::is_known_host(std::string_view host) const {
  const std::string asked = lower(host);
  for (const std::string_view name : {"127.0.0.1", "[::1]", "localhost"}) {
    if (asked == fmt::format("{}:{}", name, port_)) return true;
    if (port_ == 80 && asked == name) return true;
  }
  return public_url_ && asked == public_url_->authority;
}

bool AccessGuard::is_own_origin(std::string_view origin) const {
  const std::string asked = lower(origin);
  if (public_url_ && asked == public_url_->scheme + "://" + public_url_->authority) return true;
  constexpr std::string_view kScheme = "http://";
  if (!asked.starts_with(kScheme)) return false;
  const std::string host = asked.substr(kScheme.size());
  return is_known_host(host) && (!public_url_ || host != public_url_->authority);
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
  const bool is_page = is_open && !is_state_changing(request.method);
  if (!is_page && (is_foreign || is_foreign_origin)) {
    return net::problem(403, "Another site's request",
                        "pages of other sites may not use this server");
  }
  if (is_open || has_secret(request)) return std::nullopt;
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
  const bool is_secure = public_url_ && public_url_->scheme == "https" &&
                         lower(request.header("Host")) == public_url_->authority;
  const std::string prefix = public_url_ ? public_url_->prefix : "";
  reply.headers.emplace_back(
      "Set-Cookie",
      net::set_cookie(cookie_name_, cookie_, prefix.empty() ? "/" : prefix, -1, is_secure));
  reply.headers.emplace_back("Location", same_page(request, prefix));
  reply.headers.emplace_back("Cache-Control", "no-store");
  return reply;
}

}  // namespace gpufl::server
