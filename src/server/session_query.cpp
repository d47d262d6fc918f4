// SPDX-License-Identifier: Apache-2.0
#include "server/session_query.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace gpufl::server {
namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Texts of numbers that sort as the numbers do.
std::string sortable(int64_t number) {
  return fmt::format("{:020}", static_cast<uint64_t>(number) ^ kSignBit);
}

std::string sort_key(const SessionEntry& session, std::string_view by) {
  const workbench::ListedSession& listed = session.listed;
  const format::SessionHeader& header = listed.found.header;
  if (by == "duration") return sortable(listed.duration_ns.value_or(-1));
  if (by == "kernels") {
    return sortable(listed.kernels ? static_cast<int64_t>(*listed.kernels) : int64_t{-1});
  }
  if (by == "bytes") return sortable(static_cast<int64_t>(listed.bytes));
  if (by == "app") return lower(header.app_name);
  return sortable(header.start_wall_ns);
}

bool has(const SessionEntry& session, const std::string& part) {
  const format::SessionHeader& header = session.listed.found.header;
  for (const std::string* text : {&header.app_name, &header.command, &header.process, &header.host,
                                  &session.id, &session.run}) {
    if (lower(*text).find(part) != std::string::npos) return true;
  }
  return lower(session.name.string()).find(part) != std::string::npos;
}

bool is_match(const SessionEntry& session, const SessionQuery& query, const std::string& part) {
  const format::SessionHeader& header = session.listed.found.header;
  const auto is = [](const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
  };
  return is(query.state, session.listed.state) && is(query.host, header.host) &&
         is(query.app, header.app_name) && is(query.engine, header.engine) &&
         is(query.run, session.run) && (part.empty() || has(session, part));
}

std::string to_hex(std::string_view text) {
  std::string out;
  for (const char c : text) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string out;
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

// A place in the order: what is sorted by, and the id, which no two share.
using Place = std::pair<std::string, std::string>;

std::optional<Place> parse_cursor(const std::string& cursor) {
  const auto text = from_hex(cursor);
  const size_t end = text ? text->rfind('\n') : std::string::npos;
  if (end == std::string::npos) return std::nullopt;
  return Place(text->substr(0, end), text->substr(end + 1));
}

}  // namespace

const std::vector<std::string>& session_sorts() {
  static const std::vector<std::string> sorts = {"-start", "start", "-duration", "duration",
                                                 "-bytes", "bytes", "-kernels",  "kernels",
                                                 "app",    "-app"};
  return sorts;
}

std::optional<SessionPage> choose(std::vector<SessionPtr> sessions, const SessionQuery& query) {
  const bool is_descending = query.sort.starts_with('-');
  const std::string by = query.sort.substr(is_descending ? 1 : 0);
  const std::string part = lower(query.text);
  std::vector<std::pair<Place, SessionPtr>> found;
  for (SessionPtr& session : sessions) {
    if (!is_match(*session, query, part)) continue;
    Place place(sort_key(*session, by), session->id);
    found.emplace_back(std::move(place), std::move(session));
  }
  const auto is_before = [&](const Place& a, const Place& b) {
    return is_descending ? b < a : a < b;
  };
  std::sort(found.begin(), found.end(),
            [&](const auto& a, const auto& b) { return is_before(a.first, b.first); });
  SessionPage page;
  page.matches = found.size();
  auto from = found.begin();
  if (!query.cursor.empty()) {
    const auto last = parse_cursor(query.cursor);
    if (!last) return std::nullopt;
    from = std::find_if(found.begin(), found.end(),
                        [&](const auto& one) { return is_before(*last, one.first); });
  }
  for (; from != found.end() && page.sessions.size() < query.limit; ++from) {
    page.sessions.push_back(from->second);
    page.next_cursor = to_hex(from->first.first + '\n' + from->first.second);
  }
  if (from == found.end()) page.next_cursor.clear();
  return page;
}

}  // namespace gpufl::server
