// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Code of kernels, as the stand-in's driver loads it. What the library's function
// cupti_standin_code() returns. Any thread.
namespace gpufl::standin {

struct CuptiStandinCode {
  // A module is loaded; the image is the driver's own again when the call returns.
  void (*load)(const char* image, size_t bytes);
  uint64_t (*checksum)(const char* image, size_t bytes);  // as samples would name it
};

using CuptiStandinCodeFunction = const CuptiStandinCode*();

}  // namespace gpufl::standin
