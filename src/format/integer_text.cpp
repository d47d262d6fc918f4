// SPDX-License-Identifier: Apache-2.0
#include "format/integer_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace gpufl::format {
namespace {

constexpr size_t kMaxDigits = 20;

// For every value below 10^4 eight bytes that one store can put down: its digits, a comma, and in
// the last byte the length of both together. Values of timing columns rarely have more digits.
struct ShortTexts {
  static constexpr uint64_t kEnd = 10'000;
  std::array<uint64_t, kEnd> words;

  ShortTexts() {
    for (uint64_t value = 0; value < kEnd; ++value) {
      char text[8] = {};
      char* end = std::to_chars(text, text + 4, value).ptr;
      *end++ = ',';
      text[7] = static_cast<char>(end - text);
      std::memcpy(&words[value], text, sizeof text);
    }
  }
};

const ShortTexts& short_texts() {
  static const ShortTexts texts;
  return texts;
}

// Writes "value," at `at`, which has room for kMaxDigits + 2; returns the end.
inline char* put(char* at, uint64_t value, const ShortTexts& texts) {
  if (value < ShortTexts::kEnd) {
    const uint64_t word = texts.words[value];
    std::memcpy(at, &word, sizeof word);
    return at + (word >> 56);
  }
  at = std::to_chars(at, at + kMaxDigits, value).ptr;
  *at++ = ',';
  return at;
}

inline char* put(char* at, int64_t value, const ShortTexts& texts) {
  if (value >= 0) return put(at, static_cast<uint64_t>(value), texts);
  *at++ = '-';
  return put(at, ~static_cast<uint64_t>(value) + 1, texts);
}

template <typename T>
void append_list(std::string& out, std::span<const T> values) {
  // Through a small buffer that stays in the first-level cache: growing `out` to the worst case
  // first would clear five times the memory that is used.
  constexpr size_t kChunk = 256;
  char buffer[kChunk * (kMaxDigits + 2)];
  const ShortTexts& texts = short_texts();
  out.push_back('[');
  while (!values.empty()) {
    const size_t count = std::min(values.size(), kChunk);
    char* at = buffer;
    for (const T value : values.first(count)) at = put(at, value, texts);
    values = values.subspan(count);
    if (values.empty()) --at;  // the comma after the last value
    out.append(buffer, static_cast<size_t>(at - buffer));
  }
  out.push_back(']');
}

template <typename T>
void append_one(std::string& out, T value) {
  char buffer[kMaxDigits + 2];
  char* end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, static_cast<size_t>(end - buffer));
}

}  // namespace

void append_integer(std::string& out, int64_t value) { append_one(out, value); }
void append_unsigned(std::string& out, uint64_t value) { append_one(out, value); }

void append_unsigned_list(std::string& out, std::span<const uint64_t> values) {
  append_list(out, values);
}
void append_integer_list(std::string& out, std::span<const int64_t> values) {
  append_list(out, values);
}

}  // namespace gpufl::format
