// SPDX-License-Identifier: Apache-2.0
#include "symbols/python_lines.hpp"

#include <cstddef>

namespace gpufl::symbols {

namespace {

constexpr int64_t kBytesPerInstruction = 2;

// A signed number in groups of six bits, the sign in the lowest; a byte over 63 is not the last.
int64_t read_signed(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  int shift = 0;
  for (const uint8_t byte : bytes) {
    if (shift < 64) value |= uint64_t{byte & 63u} << shift;
    shift += 6;
    if ((byte & 64) == 0) break;
  }
  const auto magnitude = static_cast<int64_t>(value >> 1);
  return (value & 1) != 0 ? -magnitude : magnitude;
}

}  // namespace

int64_t line_in_pairs(std::span<const uint8_t> table, int64_t first_line, int64_t offset) {
  constexpr int8_t kNoLine = -128;
  int64_t line = first_line, end = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    const auto delta = static_cast<int8_t>(table[i + 1]);
    end += table[i];
    if (delta != kNoLine) line += delta;
    if (offset < end) return delta != kNoLine ? line : 0;
  }
  return 0;
}

int64_t line_in_locations(std::span<const uint8_t> table, int64_t first_line, int64_t offset) {
  constexpr uint8_t kFirstByte = 0x80, kNone = 15, kLong = 14, kNoColumns = 13, kOneLine = 10;
  int64_t line = first_line, end = 0;
  for (size_t i = 0; i < table.size();) {
    const uint8_t kind = table[i] >> 3 & 15;
    end += ((table[i] & 7) + 1) * kBytesPerInstruction;
    ++i;
    if (kind == kLong || kind == kNoColumns) {
      line += read_signed(table.subspan(i));
    } else if (kind >= kOneLine && kind < kNoColumns) {
      line += kind - kOneLine;
    }
    if (offset < end) return kind != kNone ? line : 0;
    while (i < table.size() && (table[i] & kFirstByte) == 0) ++i;
  }
  return 0;
}

}  // namespace gpufl::symbols
