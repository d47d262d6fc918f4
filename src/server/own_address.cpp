// SPDX-License-Identifier: Apache-2.0
#include "server/own_address.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "net/target.hpp"
#include "text/display.hpp"

namespace gpufl::server {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// As browsers write it: the port only where the scheme does not imply it.
std::string without_usual_port(std::string_view scheme, std::string authority) {
  const std::string_view usual = scheme == "https" ? ":443" : ":80";
  if (authority.ends_with(usual)) authority.resize(authority.size() - usual.size());
  return authority;
}

// Why a host and port are none; empty: they are.
std::string_view mistake_in_authority(std::string_view authority) {
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
  if (const auto mistake = mistake_in_authority(url.authority); !mistake.empty())
    return wrong(mistake);
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

std::string bearer_of(const net::HttpRequest& request) {
  const std::string authorization = request.header("Authorization");
  constexpr std::string_view kBearer = "bearer ";
  if (lower(authorization.substr(0, kBearer.size())) != kBearer) return {};
  return authorization.substr(kBearer.size());
}

OwnAddress::OwnAddress(uint16_t port, std::optional<PublicUrl> public_url)
    : port_(port), public_url_(std::move(public_url)) {}

bool OwnAddress::is_known_host(std::string_view host) const {
  const std::string asked = lower(host);
  for (const std::string_view name : {"127.0.0.1", "[::1]", "localhost"}) {
    if (asked == fmt::format("{}:{}", name, port_)) return true;
    if (port_ == 80 && asked == name) return true;
  }
  return is_public_host(asked);
}

bool OwnAddress::is_public_host(std::string_view host) const {
  return public_url_ &&
         without_usual_port(public_url_->scheme, lower(host)) == public_url_->authority;
}

bool OwnAddress::is_own_origin(std::string_view origin) const {
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

// "none": typed or opened by the user. A page of another port is "same-site".
bool OwnAddress::is_foreign(const net::HttpRequest& request) const {
  const std::string site = request.header("Sec-Fetch-Site");
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  return request.has_header("Origin") && !is_own_origin(request.header("Origin"));
}

bool OwnAddress::is_secure(std::string_view host) const {
  return public_url_ && public_url_->scheme == "https" && is_public_host(host);
}

std::string OwnAddress::cookie_path() const {
  return public_url_ && !public_url_->prefix.empty() ? public_url_->prefix : "/";
}

}  // namespace gpufl::server
