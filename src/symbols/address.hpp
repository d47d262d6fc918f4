// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Unwinding turns numbers that it found in memory into addresses; this is the one place that does.
namespace gpufl::symbols {

inline char* at_address(uintptr_t address) {
  return reinterpret_cast<char*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace gpufl::symbols
