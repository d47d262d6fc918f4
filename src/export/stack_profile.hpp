// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "timeline/session_texts.hpp"

// Time by where in the program it was asked for: what flame graphs are drawn from. Rows of the same
// stack, scope and kernel are one sample. Memory follows those, not the rows. One thread.
namespace gpufl::exporting {

struct StackSample {
  uint32_t stack = 0;   // for CodeMap; 0: none was recorded
  uint32_t path = 0;    // scope path; 0: in none
  uint32_t config = 0;  // of a kernel, one of those with its name; 0: no kernel
  uint32_t wait = 0;    // row of Tables::waits with that call, plus one; 0: no wait
  uint64_t count = 0;
  int64_t gpu_ns = 0, blocked_ns = 0;
};

// Kernels, then waits; the order is that of their first rows.
std::vector<StackSample> stack_samples(const timeline::SessionTexts& texts);

}  // namespace gpufl::exporting
