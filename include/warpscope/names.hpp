// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <warpscope/trace.hpp>

// The names of the side block as JSON, in both directions. The reader takes strict JSON and no ids
// that no record can have; members that it does not know are skipped, and nesting is limited, so
// that no input exhausts the stack.
namespace ws {
namespace detail {

inline constexpr uint32_t kHighestEvent = (1U << 10) - 1;
inline constexpr uint32_t kHighestGroup = (1U << 20) - 1;

// Bytes of the UTF-8 character at the front; 0: it is none.
inline size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool is_overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool is_outside = (lead == 0xed && second >= 0xa0) || (lead == 0xf4 && second >= 0x90);
  return is_overlong || is_outside ? 0 : length;
}

inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

// What is not UTF-8 becomes the replacement character.
inline std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    out += length != 0 ? text.substr(0, length) : kReplacementCharacter;
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

// For a terminal: names are a program's own, so what would move the cursor, colour the text or turn
// its direction is escaped.
inline std::string printable(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  const std::string valid = valid_utf8(text);
  std::string out;
  for (std::string_view left = valid; !left.empty();) {
    const size_t length = utf8_length(left);
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(left[i]); };
    const unsigned point = length == 1   ? byte(0)
                           : length == 2 ? (byte(0) & 0x1fU) << 6 | (byte(1) & 0x3fU)
                           : length == 3
                               ? (byte(0) & 0xfU) << 12 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU)
                               : 0x10000U;  // nothing that is escaped
    const bool is_control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    const bool is_format = (point >= 0x200b && point < 0x2010) ||
                           (point >= 0x2028 && point < 0x202f) ||
                           (point >= 0x2060 && point < 0x2070) || point == 0xfeff;
    if (is_control) {
      out += {'\\', 'x', kHex[point >> 4], kHex[point & 15]};
    } else if (is_format) {
      out += {'\\',
              'u',
              kHex[point >> 12],
              kHex[point >> 8 & 15],
              kHex[point >> 4 & 15],
              kHex[point & 15]};
    } else {
      out += left.substr(0, length);
    }
    left.remove_prefix(length);
  }
  return out;
}

inline void append_json_string(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

inline void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      out += static_cast<char>(0xe0 | (code >> 12));
    } else {
      out += static_cast<char>(0xf0 | (code >> 18));
      out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    }
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
  }
  out += static_cast<char>(0x80 | (code & 0x3f));
}

class NamesReader {
 public:
  explicit NamesReader(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  bool read(Names& names) {
    Names found;
    const bool ok = object([&](const std::string& member) {
      if (member == "kernel") return string(found.kernel);
      if (member == "events") return texts(found.events, kHighestEvent);
      if (member == "groups") return texts(found.groups, kHighestGroup);
      if (member == "waits") {
        found.waits.clear();
        return array([&] { return event(found.waits.emplace_back()); });
      }
      if (member == "flows") {
        found.flows.clear();
        return array([&] { return flow(found.flows.emplace_back()); });
      }
      return skip(1);
    });
    space();
    if (!ok || at_ != end_) return false;
    names = std::move(found);
    return true;
  }

 private:
  static constexpr int kMaxDepth = 32;  // objects and arrays in one another

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  void space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool take(char c) {
    space();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  // Entries between brackets, separated by commas.
  template <typename Entry>
  bool list(char open, char close, Entry&& entry) {
    if (!take(open)) return false;
    if (take(close)) return true;
    do {
      if (!entry()) return false;
    } while (take(','));
    return take(close);
  }
  template <typename Entry>
  bool array(Entry&& entry) {
    return list('[', ']', entry);
  }
  template <typename Member>
  bool object(Member&& member) {
    std::string name;
    return list('{', '}', [&] { return string(name) && take(':') && member(name); });
  }
  // Decimal, without a sign and without zeros in front.
  bool id(uint32_t& value, uint32_t highest) {
    const char* const first = at_;
    for (value = 0; at_ != end_ && is_digit(*at_) && value <= highest; ++at_) {
      value = value * 10 + static_cast<uint32_t>(*at_ - '0');
    }
    const bool is_padded = at_ - first > 1 && *first == '0';
    return at_ != first && !is_padded && value <= highest;
  }
  bool event(uint32_t& value) {
    space();
    return id(value, kHighestEvent);
  }
  bool texts(std::map<uint32_t, std::string>& names, uint32_t highest) {
    names.clear();
    return object([&](const std::string& key) {
      uint32_t named = 0;
      NamesReader reader(key);
      return reader.id(named, highest) && reader.at_ == reader.end_ && string(names[named]);
    });
  }
  bool flow(std::pair<uint32_t, uint32_t>& flow) {
    return take('[') && event(flow.first) && take(',') && event(flow.second) && take(']');
  }
  bool hex4(uint32_t& value) {
    value = 0;
    for (int digit = 0; digit < 4; ++digit, ++at_) {
      if (at_ == end_) return false;
      const char c = *at_;
      if (c >= '0' && c <= '9') {
        value = value * 16 + static_cast<uint32_t>(c - '0');
      } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
        value = value * 16 + static_cast<uint32_t>((c | 0x20) - 'a' + 10);
      } else {
        return false;
      }
    }
    return true;
  }
  bool escape(std::string& out) {
    if (at_ == end_) return false;
    switch (const char c = *at_++) {
      case 'b': out += '\b'; return true;
      case 'f': out += '\f'; return true;
      case 'n': out += '\n'; return true;
      case 'r': out += '\r'; return true;
      case 't': out += '\t'; return true;
      case '"':
      case '\\':
      case '/': out += c; return true;
      case 'u': break;
      default: return false;
    }
    uint32_t code = 0;
    if (!hex4(code)) return false;
    if (code >= 0xd800 && code < 0xdc00) {
      uint32_t low = 0;
      if (end_ - at_ < 6 || at_[0] != '\\' || at_[1] != 'u') return false;
      at_ += 2;
      if (!hex4(low) || low < 0xdc00 || low > 0xdfff) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      return false;
    }
    append_utf8(out, code);
    return true;
  }
  bool string(std::string& out) {
    out.clear();
    if (!take('"')) return false;
    while (at_ != end_) {
      const std::string_view rest(at_, static_cast<size_t>(end_ - at_));
      const char c = rest.front();
      const size_t length = utf8_length(rest);
      if (length == 0 || static_cast<unsigned char>(c) < 0x20) return false;
      at_ += length;
      if (c == '"') return true;
      if (c != '\\') {
        out += rest.substr(0, length);
      } else if (!escape(out)) {
        return false;
      }
    }
    return false;
  }
  bool digits() {
    const char* const first = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return at_ != first;
  }
  bool pass(std::string_view any_of) {
    if (at_ == end_ || any_of.find(*at_) == std::string_view::npos) return false;
    ++at_;
    return true;
  }
  bool number() {
    pass("-");
    if (!pass("0") && !digits()) return false;
    if (pass(".") && !digits()) return false;
    if (!pass("eE")) return true;
    pass("+-");
    return digits();
  }
  // A value inside of `depth` objects and arrays.
  bool skip(int depth) {
    space();
    if (at_ == end_) return false;
    std::string ignored;
    if (*at_ == '"') return string(ignored);
    if ((*at_ == '[' || *at_ == '{') && depth == kMaxDepth) return false;
    if (*at_ == '[') return array([&] { return skip(depth + 1); });
    if (*at_ == '{') return object([&](const std::string&) { return skip(depth + 1); });
    for (const std::string_view word : {"true", "false", "null"}) {
      if (std::string_view(at_, static_cast<size_t>(end_ - at_)).substr(0, word.size()) != word) {
        continue;
      }
      at_ += word.size();
      return true;
    }
    return number();
  }

  const char* at_;
  const char* end_;
};

}  // namespace detail

// The names as the side block holds them, without ids that no record can have.
inline std::string names_to_json(const Names& names) {
  std::string out = "{";
  const auto member = [&](const char* name) {
    if (out.size() > 1) out += ',';
    detail::append_json_string(out, name);
    out += ':';
  };
  const auto ids = [&](const char* name, const std::map<uint32_t, std::string>& values,
                       uint32_t highest) {
    if (values.empty()) return;
    member(name);
    out += '{';
    for (auto it = values.begin(); it != values.end() && it->first <= highest; ++it) {
      out += (it == values.begin() ? "\"" : ",\"") + std::to_string(it->first) + "\":";
      detail::append_json_string(out, it->second);
    }
    out += '}';
  };
  if (!names.kernel.empty()) {
    member("kernel");
    detail::append_json_string(out, names.kernel);
  }
  ids("events", names.events, detail::kHighestEvent);
  ids("groups", names.groups, detail::kHighestGroup);
  if (!names.waits.empty()) {
    member("waits");
    const char* separator = "";
    out += '[';
    for (const uint32_t id : names.waits) {
      if (id > detail::kHighestEvent) continue;
      out += separator + std::to_string(id);
      separator = ",";
    }
    out += ']';
  }
  if (!names.flows.empty()) {
    member("flows");
    const char* separator = "";
    out += '[';
    for (const auto& [producer, consumer] : names.flows) {
      if (std::max(producer, consumer) > detail::kHighestEvent) continue;
      out += separator + ('[' + std::to_string(producer)) + ',' + std::to_string(consumer) + ']';
      separator = ",";
    }
    out += ']';
  }
  return out + '}';
}

// False when it is not such JSON; `names` is then as it was.
inline bool names_from_json(std::string_view json, Names& names) {
  return detail::NamesReader(json).read(names);
}

}  // namespace ws
