// SPDX-License-Identifier: Apache-2.0
#include "text/display.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace gpufl::text {

namespace {

constexpr std::string_view kEllipsis = "...";

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;  // 0: not UTF-8
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (bytes == 0 || lead > 0xf4 || bytes > text.size()) return {};
  uint32_t value = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xd800 && value < 0xe000;
  if (value < kSmallest[bytes] || value > 0x10ffff || is_surrogate) return {};
  return {value, bytes};
}

bool is_control(uint32_t value) {
  // C0, DEL and C1; marks that change the writing direction would reorder what follows them.
  return value < 0x20 || (value >= 0x7f && value < 0xa0) || (value >= 0x200b && value < 0x2010) ||
         (value >= 0x2028 && value < 0x202f) || (value >= 0x2060 && value < 0x2070) ||
         value == 0xfeff;
}

bool is_wide(uint32_t value) {
  struct Range {
    uint32_t first, last;
  };
  constexpr std::array kWide = {
      Range{0x1100, 0x115f},   Range{0x2e80, 0x303e}, Range{0x3041, 0xa4cf},
      Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff}, Range{0xfe30, 0xfe6f},
      Range{0xff00, 0xff60},   Range{0xffe0, 0xffe6}, Range{0x1f300, 0x1faff},
      Range{0x20000, 0x3fffd},
  };
  return std::any_of(kWide.begin(), kWide.end(), [&](const Range& range) {
    return value >= range.first && value <= range.last;
  });
}

}  // namespace

size_t prefix_bytes(std::string_view text, size_t width) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    const CodePoint point = decode(text.substr(bytes));
    const size_t needed = is_wide(point.value) ? 2 : 1;
    if (needed > width) break;
    width -= needed;
    bytes += std::max<size_t>(point.bytes, 1);
  }
  return bytes;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    width += is_wide(point.value) ? 2 : 1;
    text.remove_prefix(std::max<size_t>(point.bytes, 1));
  }
  return width;
}

std::string make_harmless(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (point.bytes == 0 || is_control(point.value)) {
      out += '?';
    } else {
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(std::max<size_t>(point.bytes, 1));
  }
  return out;
}

std::string fit(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= kEllipsis.size()) return std::string(kEllipsis.substr(0, width));
  const size_t bytes = prefix_bytes(text, width - kEllipsis.size());
  return std::string(text.substr(0, bytes)).append(kEllipsis);
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  std::string word = make_harmless(text);
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace gpufl::text
