// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// A log can hold any 64-bit numbers: what is computed from them stops at the ends of the range.
namespace gpufl::analysis {

inline int64_t saturating_subtract(int64_t a, int64_t b) {
  int64_t difference;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

inline int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

inline int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

}  // namespace gpufl::analysis
