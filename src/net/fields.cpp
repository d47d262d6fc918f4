// SPDX-License-Identifier: Apache-2.0
#include "net/fields.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"

namespace gpufl::net {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// "0.75" as 750; at most three digits behind the point. Anything else counts as 0: what a client
// cannot write down it does not get.
int thousandths(std::string_view text) {
  if (text.empty() || (text[0] != '0' && text[0] != '1')) return 0;
  int value = (text[0] - '0') * 1000;
  if (text.size() == 1) return value;
  if (text[1] != '.' || text.size() > 5) return 0;
  int weight = 100;
  for (const char c : text.substr(2)) {
    if (c < '0' || c > '9') return 0;
    value += (c - '0') * weight;
    weight /= 10;
  }
  return value <= 1000 ? value : 0;
}

int quality(std::string_view parameters) {
  int found = 1000;
  while (!parameters.empty()) {
    const size_t end = parameters.find(';');
    const std::string_view part = trimmed(parameters.substr(0, end));
    if (part.starts_with("q=") || part.starts_with("Q=")) found = thousandths(part.substr(2));
    parameters.remove_prefix(end == std::string_view::npos ? parameters.size() : end + 1);
  }
  return found;
}

std::string_view opaque_part(std::string_view etag) {
  return etag.starts_with("W/") ? etag.substr(2) : etag;
}

}  // namespace

std::vector<std::string_view> split_list(std::string_view value) {
  std::vector<std::string_view> members;
  bool is_quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= value.size(); ++i) {
    if (i < value.size()) {
      if (is_quoted && value[i] == '\\' && i + 1 < value.size()) {
        ++i;
        continue;
      }
      if (value[i] == '"') is_quoted = !is_quoted;
      if (value[i] != ',' || is_quoted) continue;
    }
    const std::string_view member = trimmed(value.substr(begin, i - begin));
    if (!member.empty()) members.push_back(member);
    begin = i + 1;
  }
  return members;
}

NamedTexts parse_cookies(std::string_view value) {
  NamedTexts cookies;
  while (!value.empty()) {
    const size_t end = value.find(';');
    const std::string_view part = trimmed(value.substr(0, end));
    value.remove_prefix(end == std::string_view::npos ? value.size() : end + 1);
    const size_t equals = part.find('=');
    if (equals == 0 || equals == std::string_view::npos) continue;
    std::string_view text = trimmed(part.substr(equals + 1));
    if (text.size() >= 2 && text.starts_with('"') && text.ends_with('"')) {
      text = text.substr(1, text.size() - 2);
    }
    cookies.emplace_back(trimmed(part.substr(0, equals)), text);
  }
  return cookies;
}

std::vector<std::string> cookies_of(const HttpRequest& request, std::string_view name) {
  std::vector<std::string> values;
  for (auto& [key, value] : parse_cookies(request.header("Cookie"))) {
    if (key == name) values.push_back(std::move(value));
  }
  return values;
}

std::string set_cookie(std::string_view name, std::string_view value, std::string_view path,
                       int64_t max_age_s, bool is_secure, SameSite same_site) {
  std::string text = std::string(name) + "=" + std::string(value) + "; Path=" + std::string(path);
  if (max_age_s >= 0) text += "; Max-Age=" + std::to_string(max_age_s);
  text += "; HttpOnly; SameSite=";
  text += same_site == SameSite::Strict ? "Strict" : "Lax";
  if (is_secure) text += "; Secure";
  return text;
}

namespace {

// From 0, refused, to 1000; negative: not a word about it.
struct Qualities {
  int zstd = -1, gzip = -1, identity = -1;
};

Qualities qualities_of(std::string_view accept_encoding) {
  Qualities all;
  int others = -1;
  for (const std::string_view member : split_list(accept_encoding)) {
    const size_t end = member.find(';');
    const std::string_view name = trimmed(member.substr(0, end));
    const int value =
        quality(end == std::string_view::npos ? std::string_view() : member.substr(end + 1));
    if (equals_ignoring_case(name, "zstd")) all.zstd = value;
    if (equals_ignoring_case(name, "gzip") || equals_ignoring_case(name, "x-gzip"))
      all.gzip = value;
    if (equals_ignoring_case(name, "identity")) all.identity = value;
    if (name == "*") others = value;
  }
  if (all.zstd < 0) all.zstd = std::max(others, 0);
  if (all.gzip < 0) all.gzip = std::max(others, 0);
  // Without a word about it, identity is accepted, but nothing of what was asked for is behind it.
  all.identity = std::max(all.identity, 0);
  return all;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  return qualities_of(accept_encoding).gzip > 0;
}

Encoding choose_encoding(std::string_view accept_encoding) {
  const auto [zstd, gzip, identity] = qualities_of(accept_encoding);
  if (zstd > 0 && zstd >= gzip && zstd >= identity) return Encoding::Zstd;
  if (gzip > 0 && gzip >= identity) return Encoding::Gzip;
  return Encoding::Identity;
}

std::string_view name_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::Gzip: return "gzip";
    case Encoding::Zstd: return "zstd";
    case Encoding::Identity: break;
  }
  return {};
}

std::string etag_of(std::string_view content) {
  const std::string text = base::xxh64_text(base::xxh64(content.data(), content.size()));
  return '"' + text.substr(text.find(':') + 1) + '"';
}

bool matches_etag(std::string_view if_none_match, std::string_view etag) {
  const auto members = split_list(if_none_match);
  return std::any_of(members.begin(), members.end(), [&](std::string_view member) {
    return member == "*" || opaque_part(member) == opaque_part(etag);
  });
}

HttpReply with_etag(const HttpRequest& request, HttpReply reply, std::string_view etag) {
  if (reply.status != 200) return reply;
  reply.headers.emplace_back("ETag", etag);
  if (!find_header(reply.headers, "Cache-Control")) {
    reply.headers.emplace_back("Cache-Control", "no-cache");
  }
  if (!matches_etag(request.header("If-None-Match"), etag)) return reply;
  reply.status = 304;
  reply.body.clear();
  reply.source.reset();
  return reply;
}

}  // namespace gpufl::net
