// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gpufl::format {

// What was met while lines were decoded. Plain data.
struct DecodeStats {
  uint64_t unknown_columns = 0;  // fields this version does not know: skipped
};

}  // namespace gpufl::format
