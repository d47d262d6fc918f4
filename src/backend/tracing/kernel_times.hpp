// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What is compared of kernels of one stream: times of one clock, and the id of the call behind
// them, which all kernels of a graph launch share.
namespace gpufl::backend {

struct KernelTimes {
  uint32_t correlation;
  int64_t start, end;
};

// Ids count up and wrap.
inline bool is_newer(uint32_t id, uint32_t than) { return static_cast<int32_t>(id - than) > 0; }

}  // namespace gpufl::backend
