// SPDX-License-Identifier: Apache-2.0
#include "net/url.hpp"

#include <algorithm>
#include <charconv>

#include "net/endpoint.hpp"
#include "net/http_message.hpp"
#include "net/target.hpp"

namespace gpufl::net {
namespace {

constexpr uint16_t kHttpPort = 80;
constexpr uint16_t kHttpsPort = 443;

bool is_host(std::string_view text, bool is_bracketed) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || (is_bracketed && c == ':');
  });
}

bool is_path(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '<' && c != '>' && c != '\\';
  });
}

}  // namespace

std::string Url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (is_tls ? kHttpsPort : kHttpPort) ? name : name + ":" + std::to_string(port);
}

std::string Url::origin() const { return (is_tls ? "https://" : "http://") + authority(); }

bool Url::is_loopback() const {
  return equals_ignoring_case(host, "localhost") || Endpoint{host, port}.is_loopback();
}

base::Result<Url> parse_url(std::string_view text, bool may_have_user) {
  // Without the text where it may hold a password.
  const auto refuse = [&](const std::string& why) {
    const bool is_secret = text.find('@') != std::string_view::npos;
    return base::Status(base::Code::InvalidArgument,
                        (is_secret ? "the address" : "'" + std::string(text) + "'") + " " + why);
  };
  Url url;
  std::string_view rest = text;
  const size_t scheme_end = rest.find("://");
  if (scheme_end == std::string_view::npos) {
    return refuse("has no scheme: write https://HOST or http://HOST:PORT");
  }
  const std::string_view scheme = rest.substr(0, scheme_end);
  rest.remove_prefix(scheme_end + 3);
  url.is_tls = equals_ignoring_case(scheme, "https");
  if (!url.is_tls && !equals_ignoring_case(scheme, "http")) {
    return refuse("is neither http:// nor https://");
  }
  url.port = url.is_tls ? kHttpsPort : kHttpPort;
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return refuse("has a query or a fragment, which cannot be meant here");
  }
  const size_t slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  std::string_view path = slash == std::string_view::npos ? "" : rest.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!is_path(path)) return refuse("has a path with characters that must be percent-encoded");
  url.path = path;

  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    if (!may_have_user) return refuse("names a user: leave NAME@ out");
    const auto user = percent_decode(authority.substr(0, at));
    if (!user) return refuse("has a percent sign without two hex digits");
    url.user_info = *user;
    authority.remove_prefix(at + 1);
  }
  const bool is_bracketed = authority.starts_with('[');
  size_t host_end = authority.find(is_bracketed ? ']' : ':');
  if (is_bracketed) {
    if (host_end == std::string_view::npos) return refuse("has no closing bracket");
    url.host = authority.substr(1, host_end - 1);
    ++host_end;
  } else {
    url.host = authority.substr(0, host_end);
  }
  if (!is_host(url.host, is_bracketed)) return refuse("names no host");
  if (host_end >= authority.size()) return url;
  const std::string_view port = authority.substr(host_end + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
  if (authority[host_end] != ':' || error != std::errc{} || end != port.data() + port.size() ||
      url.port == 0) {
    return refuse("has no port from 1 to 65535 behind its host");
  }
  return url;
}

bool is_same_place(std::string_view a, std::string_view b) {
  const auto one = parse_url(a), other = parse_url(b);
  if (!one || !other) return a == b;
  return one->is_tls == other->is_tls && one->port == other->port && one->path == other->path &&
         equals_ignoring_case(one->host, other->host);
}

std::string base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < text.size(); i += 3) {
    const size_t count = std::min<size_t>(3, text.size() - i);
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (j < count ? static_cast<unsigned char>(text[i + j]) : 0U);
    }
    for (size_t j = 0; j < 4; ++j) out += j <= count ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

}  // namespace gpufl::net
