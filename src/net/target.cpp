// SPDX-License-Identifier: Apache-2.0
#include "net/target.hpp"

#include <algorithm>
#include <utility>

namespace gpufl::net {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

bool is_unambiguous(std::string_view path) {
  if (!path.starts_with('/') || std::any_of(path.begin(), path.end(), is_control)) return false;
  while (!path.empty()) {
    path.remove_prefix(1);
    const size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (segment == "." || segment == "..") return false;
    if (slash == std::string_view::npos) return true;
    if (segment.empty()) return false;
    path.remove_prefix(slash);
  }
  return true;
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text) { return decode(text, false); }

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::optional<NamedTexts> parse_query(std::string_view query) {
  NamedTexts parts;
  while (!query.empty()) {
    const size_t end = query.find('&');
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    auto name = decode(part.substr(0, equals), true);
    auto value = decode(
        equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1), true);
    if (!name || !value) return std::nullopt;
    parts.emplace_back(std::move(*name), std::move(*value));
  }
  return parts;
}

std::optional<Target> parse_target(std::string_view method, std::string_view target) {
  if (target == "*" && method == "OPTIONS") return Target{"*", {}};
  // Clients of a proxy send the whole address.
  std::string authority;
  if (target.starts_with("http://") || target.starts_with("https://")) {
    target.remove_prefix(target.find("//") + 2);
    authority = target.substr(0, target.find_first_of("/?#"));
    if (authority.empty() || authority.find('@') != std::string::npos) return std::nullopt;
    target.remove_prefix(authority.size());
    if (target.empty()) return Target{"/", {}, std::move(authority)};
  }
  const size_t question = target.find('?');
  const bool has_query = question != std::string_view::npos;
  auto path = percent_decode(target.substr(0, question));
  auto query = parse_query(has_query ? target.substr(question + 1) : std::string_view());
  // A fragment is the browser's own; here it would be a part of a name that no other server sees.
  if (!path || !query || !is_unambiguous(*path) || target.find('#') != std::string_view::npos) {
    return std::nullopt;
  }
  return Target{std::move(*path), std::move(*query), std::move(authority)};
}

}  // namespace gpufl::net
