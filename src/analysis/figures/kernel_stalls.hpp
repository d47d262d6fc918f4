// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/session/analysis_options.hpp"
#include "analysis/tables/tables.hpp"

// Samples of the program counter, added up by function, instruction and stall reason: what figures,
// disassembly and exports of samples are made of. Pure functions; memory follows the instructions
// that were sampled, not the rows.
namespace gpufl::analysis {

struct StallCount {
  uint64_t samples = 0;
  uint64_t not_issued = 0;  // of them, those in which the scheduler issued nothing
};
using StallCounts = std::map<std::string, StallCount, std::less<>>;  // "long_scoreboard"

// One function of one module on one GPU.
struct KernelStalls {
  uint32_t name = 0;     // id of Tables::names
  std::string function;  // as the log has it: mangled
  uint64_t module = 0;   // `id` of its `module` line
  int64_t device = -1;   // -1: the log does not say
  uint64_t samples = 0;
  StallCounts stalls;
  std::map<int64_t, StallCounts> by_pc;  // by offset of the instruction in the function, in bytes
};

// Those of the options' device and window, most samples first.
std::vector<KernelStalls> kernel_stalls(const Tables& tables, const AnalysisOptions& options = {});

}  // namespace gpufl::analysis
