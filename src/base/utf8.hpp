// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// Unicode code points as UTF-8. Any thread; allocates nothing.
namespace gpufl::base {

inline constexpr uint32_t kReplacementCharacter = 0xFFFD;

// Writes one to four bytes and returns how many. What is no character (a surrogate, or beyond the
// last one) becomes U+FFFD.
inline size_t encode_utf8(uint32_t code, char* out) noexcept {
  if ((code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) code = kReplacementCharacter;
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<char>(0xC0 | (code >> 6));
    out[1] = tail(0);
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<char>(0xE0 | (code >> 12));
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | (code >> 18));
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

// A null-terminated wide text, one code point each, cut where fewer than four bytes are left.
// Returns the bytes written.
inline size_t encode_utf8(const wchar_t* text, std::span<char> out) noexcept {
  static_assert(sizeof(wchar_t) == sizeof(uint32_t));
  constexpr size_t kLongest = 4;
  size_t size = 0;
  while (*text != 0 && out.size() - size >= kLongest) {
    size += encode_utf8(static_cast<uint32_t>(*text++), out.data() + size);
  }
  return size;
}

}  // namespace gpufl::base
