// SPDX-License-Identifier: Apache-2.0
#include "server/access_guard.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/constant_time.hpp"
#include "base/secret.hpp"
#include "net/fields.hpp"
#include "net/target.hpp"

namespace gpufl::server {
namespace {

constexpr size_t kSecretBytes = 32;

bool is_state_changing(std::string_view method) {
  return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

bool has_body(const net::HttpRequest& head) {
  const std::string length = head.header("Content-Length");
  return head.has_header("Transfer-Encoding") || length.find_first_not_of('0') != std::string::npos;
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

AccessGuard::AccessGuard(uint16_t port, std::optional<PublicUrl> public_url)
    : own_(port, std::move(public_url)),
      token_(base::random_hex(kSecretBytes)),
      cookie_(base::random_hex(kSecretBytes)),
      // Cookies are those of a host, whatever the port; two servers must not overwrite each
      // other's.
      cookie_name_("gpufl_" + std::to_string(port)) {}

bool AccessGuard::has_secret(const net::HttpRequest& request) const {
  if (base::equal_in_constant_time(bearer_of(request), token_)) return true;
  // Servers on other ports of the host may have set one of the same name.
  const net::NamedTexts cookies = net::parse_cookies(request.header("Cookie"));
  return std::any_of(cookies.begin(), cookies.end(), [&](const auto& cookie) {
    return cookie.first == cookie_name_ && base::equal_in_constant_time(cookie.second, cookie_);
  });
}

net::HeadVerdict AccessGuard::check(const net::HttpRequest& head, bool is_open) const {
  // A token is looked at only where the host is meant.
  if (own_.is_known_host(head.header("Host"))) {
    if (auto taken = take_token(head)) return {std::move(taken)};
  }
  return {refuse(head, is_open), has_secret(head)};
}

std::optional<net::HttpReply> AccessGuard::refuse(const net::HttpRequest& request,
                                                  bool is_open) const {
  if (!own_.is_known_host(request.header("Host"))) {
    return net::problem(421, "Unknown host",
                        "this server answers to 127.0.0.1, [::1] and localhost with its port, and "
                        "to the host of --public-url");
  }
  const bool is_page = is_open && !is_state_changing(request.method) && !has_body(request);
  if (!is_page && own_.is_foreign(request)) {
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
  const bool is_secure = own_.is_secure(request.header("Host"));
  const std::string prefix = own_.prefix();
  reply.headers.emplace_back(
      "Set-Cookie", net::set_cookie(cookie_name_, cookie_, own_.cookie_path(), -1, is_secure));
  reply.headers.emplace_back("Location", same_page(request, prefix));
  reply.headers.emplace_back("Cache-Control", "no-store");
  return reply;
}

}  // namespace gpufl::server
