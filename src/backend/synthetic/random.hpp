// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Random numbers by position: the n-th of a stream costs a few multiplications and depends on
// nothing before it, so rows do not depend on how often they are asked for.
namespace gpufl::backend {

inline uint64_t random_at(uint64_t seed, uint64_t position) {
  uint64_t z = seed * 0xD1342543DE82EF95u + (position + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// `bits` scaled to [0, limit), from its upper half; limit is at most 2^32.
inline int64_t scaled(uint64_t bits, int64_t limit) {
  return static_cast<int64_t>(((bits >> 32) * static_cast<uint64_t>(limit)) >> 32);
}

}  // namespace gpufl::backend
