// SPDX-License-Identifier: Apache-2.0
#include "import/json_cursor.hpp"

#include <charconv>
#include <cstring>

namespace gpufl::importing {
namespace {

constexpr int kMaxDepth = 64;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool ends_scalar(char c) { return c == ',' || c == '}' || c == ']' || is_space(c); }

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

std::optional<uint32_t> hex4(const char* at, const char* end) {
  if (end - at < 4) return {};
  uint32_t value = 0;
  const auto [stop, error] = std::from_chars(at, at + 4, value, 16);
  if (error != std::errc() || stop != at + 4) return {};
  return value;
}

}  // namespace

char JsonCursor::peek() {
  while (at_ < end_ && is_space(*at_)) ++at_;
  if (at_ == end_) {
    fail(State::Starved);
    return '\0';
  }
  return *at_;
}

bool JsonCursor::take(char c) {
  if (peek() != c || !is_good()) return false;
  ++at_;
  return true;
}

bool JsonCursor::expect(char c) {
  if (take(c)) return true;
  fail(State::Wrong);
  return false;
}

void JsonCursor::skip_string() {
  for (;;) {
    const auto* quote =
        static_cast<const char*>(std::memchr(at_, '"', static_cast<size_t>(end_ - at_)));
    if (quote == nullptr) return fail(State::Starved);
    // A quote belongs to the string behind an odd number of backslashes.
    const char* slash = quote;
    while (slash > at_ && slash[-1] == '\\') --slash;
    at_ = quote + 1;
    if ((quote - slash) % 2 == 0) return;
  }
}

std::string_view JsonCursor::string(std::string& scratch) {
  if (!expect('"')) return {};
  const char* from = at_;
  skip_string();
  if (!is_good()) return {};
  const std::string_view text(from, static_cast<size_t>(at_ - 1 - from));
  if (std::memchr(text.data(), '\\', text.size()) == nullptr) return text;
  return unescape(from, scratch);
}

std::string_view JsonCursor::unescape(const char* from, std::string& scratch) {
  scratch.clear();
  const char* const quote = at_ - 1;
  while (from < quote) {
    if (*from != '\\') {
      scratch += *from++;
    } else if (!append_escape(from, scratch)) {
      fail(State::Wrong);
      return {};
    }
  }
  return scratch;
}

// `at` stands on the backslash, and then behind the escape. The string is whole.
bool JsonCursor::append_escape(const char*& at, std::string& out) {
  const char* const quote = at_ - 1;
  const char kind = at[1];
  at += 2;
  switch (kind) {
    case '"':
    case '\\':
    case '/': out += kind; return true;
    case 'b': out += '\b'; return true;
    case 'f': out += '\f'; return true;
    case 'n': out += '\n'; return true;
    case 'r': out += '\r'; return true;
    case 't': out += '\t'; return true;
    case 'u': break;
    default: return false;
  }
  const auto first = hex4(at, quote);
  if (!first) return false;
  at += 4;
  uint32_t code = *first;
  const bool is_high = code >= 0xD800 && code < 0xDC00;
  if (is_high && quote - at >= 6 && at[0] == '\\' && at[1] == 'u') {
    const auto second = hex4(at + 2, quote);
    if (second && *second >= 0xDC00 && *second < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (*second - 0xDC00);
      at += 6;
    }
  }
  const bool is_half = code >= 0xD800 && code < 0xE000;
  append_utf8(out, is_half ? 0xFFFD : code);
  return true;
}

std::string_view JsonCursor::scalar() {
  static_cast<void>(peek());
  const char* from = at_;
  while (at_ < end_ && !ends_scalar(*at_)) ++at_;
  // One that reaches the end may go on there.
  if (at_ == end_) fail(State::Starved);
  if (at_ == from) fail(State::Wrong);
  return is_good() ? std::string_view(from, static_cast<size_t>(at_ - from)) : std::string_view();
}

void JsonCursor::skip() {
  int depth = 0;
  do {
    const char c = peek();
    if (!is_good()) return;
    if (c == '"') {
      ++at_;
      skip_string();
    } else if (c == '{' || c == '[') {
      ++at_;
      if (++depth > kMaxDepth) return fail(State::Wrong);
    } else if (c == '}' || c == ']') {
      if (--depth < 0) return fail(State::Wrong);
      ++at_;
    } else if (c == ',' || c == ':') {
      if (depth == 0) return fail(State::Wrong);
      ++at_;
    } else {
      static_cast<void>(scalar());
    }
  } while (is_good() && depth > 0);
}

std::optional<int64_t> to_integer(std::string_view text) {
  int64_t value = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end) return {};
  return value;
}

std::optional<int64_t> to_nanoseconds(std::string_view microseconds) {
  const char* at = microseconds.data();
  const char* const end = at + microseconds.size();
  const bool is_negative = at < end && *at == '-';
  if (is_negative) ++at;
  // value = digits * 10^scale nanoseconds. What an int64 has no room for cannot matter once
  // rounded.
  constexpr int64_t kFull = (INT64_MAX - 9) / 10;
  int64_t digits = 0;
  int64_t scale = 3;
  bool has_digit = false, is_fraction = false;
  for (; at < end && (is_digit(*at) || (*at == '.' && !is_fraction)); ++at) {
    if (*at == '.') {
      is_fraction = true;
      continue;
    }
    has_digit = true;
    if (digits <= kFull) {
      digits = digits * 10 + (*at - '0');
      if (is_fraction) --scale;
    } else if (!is_fraction) {
      ++scale;
    }
  }
  if (!has_digit) return {};
  if (at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at < end && *at == '+') ++at;
    const auto exponent = to_integer({at, static_cast<size_t>(end - at)});
    if (!exponent || *exponent < -400 || *exponent > 400) return {};
    scale += *exponent;
    at = end;
  }
  if (at != end) return {};
  for (; scale > 0 && digits != 0; --scale) {
    if (digits > INT64_MAX / 10) return {};
    digits *= 10;
  }
  bool round_up = false;
  for (; scale < 0 && digits != 0; ++scale) {
    round_up = digits % 10 >= 5;
    digits /= 10;
  }
  if (round_up && scale == 0) ++digits;  // else it is far below one
  return is_negative ? -digits : digits;
}

}  // namespace gpufl::importing
