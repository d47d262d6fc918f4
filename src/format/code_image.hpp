// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace gpufl::format {

// Code of a GPU that ran, or is known to have run. Borrows all texts.
struct CodeImage {
  uint64_t id = 0;           // the vendor's checksum, by which rows name it
  std::string_view bytes;    // as the driver loaded it; empty: `missing` says why
  std::string_view missing;  // "not_found"
  std::string_view found;    // "callback", "fat_binary", "cache"
  std::string_view path;     // of the file that it was found in, if any
  int64_t functions = -1;    // kernels and device functions in it; -1: unknown
};

}  // namespace gpufl::format
