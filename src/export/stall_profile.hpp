// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/session_texts.hpp"

// Samples of the program counter as stacks: scope, kernel, instruction, stall reason. Memory
// follows the stacks, not the rows. One thread.
namespace gpufl::exporting {

struct StallStack {
  // Outermost first: "train (estimate)", "gemm(float*)", "gemm+0x10", "long_scoreboard".
  std::vector<std::string> frames;
  uint64_t samples = 0;
};

// In order of scopes, kernels and instructions. Samples that do not name their scope are divided
// among scopes as the kernel's traced time is, in whole numbers: the sum stays.
std::vector<StallStack> stall_stacks(const timeline::SessionTexts& texts);
// Rows that they are made of.
uint64_t stall_rows(const analysis::Tables& tables);

}  // namespace gpufl::exporting
