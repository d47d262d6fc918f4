// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

// For comparing secrets: how long it takes says nothing about where two texts differ, only how long
// they are. Any thread; allocates nothing.
namespace gpufl::base {

inline bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  // Volatile, so that no compiler finds out that the first difference decides.
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  }
  return difference == 0;
}

}  // namespace gpufl::base
