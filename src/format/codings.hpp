// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// The words and the arithmetic that the encoder and the decoder of batches share: SPEC.md,
// "Codings". All arithmetic wraps at 64 bits, so that it is exact for every value there is.
namespace gpufl::format {

inline constexpr size_t kRowsPerLine = 16'384;   // more than these, and encode() starts a new line
inline constexpr size_t kMaxBatchRows = 65'536;  // a line that claims more is refused

// What a residual is told from.
enum class Base : uint8_t {
  None,     // zero
  Last,     // the row before, in the same column
  LastEnd,  // the row before, its duration added
  Start,    // the row's start, less the duration that belongs to this column
};
inline constexpr std::array<std::string_view, 4> kBaseNames = {"none", "last", "last_end", "start"};

constexpr int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t wrapping_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// 0, -1, 1, -2, ... as 0, 1, 2, 3, ...: small numbers of either sign become short texts.
constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (uint64_t{0} - (value & 1)));
}

}  // namespace gpufl::format
