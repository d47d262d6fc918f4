// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/utf8.hpp"

namespace gpufl::base {

namespace {

constexpr int kMaxDepth = 64;

const Json& shared_null() {
  static const Json null;
  return null;
}

// Bytes of the valid UTF-8 sequence at text[at], or 0.
size_t utf8_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return 1;
  size_t length = 0;
  uint32_t code = 0;
  if ((lead & 0xE0) == 0xC0) {
    length = 2;
    code = lead & 0x1F;
  } else if ((lead & 0xF0) == 0xE0) {
    length = 3;
    code = lead & 0x0F;
  } else if ((lead & 0xF8) == 0xF0) {
    length = 4;
    code = lead & 0x07;
  } else {
    return 0;
  }
  if (text.size() - at < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
    code = (code << 6) | (byte(at + i) & 0x3F);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kSmallest[length] || code > 0x10FFFF || surrogate ? 0 : length;
}

void append_utf8(std::string& out, uint32_t code) {
  char bytes[4];
  out.append(bytes, encode_utf8(code, bytes));
}

}  // namespace

class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  Result<Json> parse() {
    Json value;
    skip_space();
    if (!parse_value(value, 0)) return failure();
    skip_space();
    if (at_ != text_.size()) {
      fail("text after the end of the value");
      return failure();
    }
    return value;
  }

 private:
  Status failure() const {
    return {Code::Corrupt, "line " + std::to_string(line_) + ", column " +
                               std::to_string(at_ - line_start_ + 1) + ": " + error_};
  }

  bool fail(const char* error) {
    if (error_.empty()) error_ = error;
    return false;
  }

  void skip_space() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool parse_value(Json& out, int depth) {
    if (at_ >= text_.size()) return fail("the text ends where a value should be");
    const int line = line_;
    bool good = false;
    switch (text_[at_]) {
      case '{': good = parse_object(out, depth); break;
      case '[': good = parse_array(out, depth); break;
      case '"':
        out.type_ = Json::Type::String;
        good = parse_string(out.string_);
        break;
      case 't': good = parse_word("true", Json(true), out); break;
      case 'f': good = parse_word("false", Json(false), out); break;
      case 'n': good = parse_word("null", Json(), out); break;
      default: good = parse_number(out); break;
    }
    out.line_ = line;
    return good;
  }

  bool parse_word(std::string_view word, Json value, Json& out) {
    if (text_.substr(at_, word.size()) != word) return fail("not a JSON value");
    at_ += word.size();
    out = std::move(value);
    return true;
  }

  bool parse_object(Json& out, int depth) {
    if (depth >= kMaxDepth) return fail("nested too deeply");
    out = Json::object();
    ++at_;
    skip_space();
    if (take('}')) return true;
    for (;;) {
      Json::Member member;
      if (at_ >= text_.size() || text_[at_] != '"') return fail("expected a key in quotes");
      if (!parse_string(member.first)) return false;
      skip_space();
      if (!take(':')) return fail("expected ':' after the key");
      skip_space();
      if (!parse_value(member.second, depth + 1)) return false;
      out.members_.push_back(std::move(member));
      skip_space();
      if (take('}')) return true;
      if (!take(',')) return fail("expected ',' or '}'");
      skip_space();
    }
  }

  bool parse_array(Json& out, int depth) {
    if (depth >= kMaxDepth) return fail("nested too deeply");
    out = Json::array();
    ++at_;
    skip_space();
    if (take(']')) return true;
    for (;;) {
      if (!parse_value(out.items_.emplace_back(), depth + 1)) return false;
      skip_space();
      if (take(']')) return true;
      if (!take(',')) return fail("expected ',' or ']'");
      skip_space();
    }
  }

  bool parse_string(std::string& out) {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        ++at_;
        if (!parse_escape(out)) return false;
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x20) return fail("control character in a string");
      const size_t length = utf8_length(text_, at_);
      if (length == 0) return fail("invalid UTF-8 in a string");
      out.append(text_, at_, length);
      at_ += length;
    }
    return fail("the text ends inside a string");
  }

  bool parse_escape(std::string& out) {
    if (at_ >= text_.size()) return fail("the text ends inside a string");
    switch (text_[at_++]) {
      case '"': out += '"'; return true;
      case '\\': out += '\\'; return true;
      case '/': out += '/'; return true;
      case 'b': out += '\b'; return true;
      case 'f': out += '\f'; return true;
      case 'n': out += '\n'; return true;
      case 'r': out += '\r'; return true;
      case 't': out += '\t'; return true;
      case 'u': return parse_unicode_escape(out);
      default: return fail("unknown escape in a string");
    }
  }

  bool parse_hex4(uint32_t& code) {
    if (text_.size() - at_ < 4) return fail("\\u needs four hexadecimal digits");
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, first + 4, code, 16);
    if (error != std::errc() || end != first + 4) return fail("\\u needs four hexadecimal digits");
    at_ += 4;
    return true;
  }

  bool parse_unicode_escape(std::string& out) {
    uint32_t code = 0;
    if (!parse_hex4(code)) return false;
    if (code >= 0xD800 && code <= 0xDBFF) {
      uint32_t low = 0;
      if (!take('\\') || !take('u') || !parse_hex4(low) || low < 0xDC00 || low > 0xDFFF) {
        return fail("half of a surrogate pair");
      }
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      return fail("half of a surrogate pair");
    }
    append_utf8(out, code);
    return true;
  }

  bool take_digits() {
    const size_t before = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ != before;
  }

  bool parse_number(Json& out) {
    const size_t start = at_;
    take('-');
    if (!take('0') && !take_digits()) return fail("not a JSON value");
    bool integer = true;
    if (take('.')) {
      integer = false;
      if (!take_digits()) return fail("a number ends in '.'");
    }
    if (take('e') || take('E')) {
      integer = false;
      if (!take('+')) take('-');
      if (!take_digits()) return fail("a number's exponent has no digits");
    }
    const char* first = text_.data() + start;
    const char* last = text_.data() + at_;
    if (integer) {
      int64_t value = 0;
      if (std::from_chars(first, last, value).ec == std::errc()) {
        out = Json(value);
        return true;
      }
    }
    double value = 0;
    if (std::from_chars(first, last, value).ec != std::errc()) {
      return fail("a number that does not fit a double");
    }
    out = Json(value);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  size_t line_start_ = 0;
  std::string error_;
};

Result<Json> Json::parse(std::string_view text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return Status(Code::LimitReached, "JSON text of " + std::to_string(text.size()) +
                                          " bytes, over the limit of " + std::to_string(max_bytes));
  }
  return JsonParser(text).parse();
}

double Json::as_number(double fallback) const {
  if (type_ == Type::Integer) return static_cast<double>(integer_);
  return type_ == Type::Number ? number_ : fallback;
}

const std::string& Json::as_string() const { return is_string() ? string_ : shared_null().string_; }

const Json* Json::find(std::string_view key) const {
  for (const Member& member : members_) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

const Json& Json::operator[](std::string_view key) const {
  const Json* found = find(key);
  return found != nullptr ? *found : shared_null();
}

Json& Json::push(Json value) { return items_.emplace_back(std::move(value)); }

Json& Json::set(std::string_view key, Json value) {
  for (Member& member : members_) {
    if (member.first == key) {
      member.second = std::move(value);
      return *this;
    }
  }
  members_.emplace_back(std::string(key), std::move(value));
  return *this;
}

void Json::dump_to(std::string& out) const {
  char digits[32];
  switch (type_) {
    case Type::Null: out += "null"; break;
    case Type::Bool: out += integer_ != 0 ? "true" : "false"; break;
    case Type::Integer:
      out.append(digits, std::to_chars(digits, digits + sizeof(digits), integer_).ptr);
      break;
    case Type::Number:
      if (!std::isfinite(number_)) {
        out += "null";
      } else {
        out.append(digits, std::to_chars(digits, digits + sizeof(digits), number_).ptr);
      }
      break;
    case Type::String: append_json_string(out, string_); break;
    case Type::Array: {
      char separator = '[';
      for (const Json& item : items_) {
        out += separator;
        item.dump_to(out);
        separator = ',';
      }
      out += items_.empty() ? "[]" : "]";
      break;
    }
    case Type::Object: {
      char separator = '{';
      for (const Member& member : members_) {
        out += separator;
        append_json_string(out, member.first);
        out += ':';
        member.second.dump_to(out);
        separator = ',';
      }
      out += members_.empty() ? "{}" : "}";
      break;
    }
  }
}

std::string Json::dump() const {
  std::string out;
  dump_to(out);
  return out;
}

void append_json_string(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const size_t length = utf8_length(text, i);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[(c >> 4) & 0xF];
      out += kHex[c & 0xF];
    } else {
      out.append(text, i, length);
    }
    i += length;
  }
  out += '"';
}

}  // namespace gpufl::base
