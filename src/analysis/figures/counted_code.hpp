// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/session/analysis_options.hpp"
#include "analysis/tables/tables.hpp"
#include "disassembly/kernel_code.hpp"

// Counters by instruction, added up by function and instruction, and what they say of a kernel's
// code: how many threads of a warp did something, and how much more memory traffic there was than
// the fewest that would do. Pure functions.
namespace gpufl::analysis {

struct InstructionCounts {
  uint64_t warps = 0, threads = 0, threads_on = 0;      // that executed; that a predicate let
  uint64_t sectors = 0, sectors_ideal = 0;              // of global memory
  uint64_t shared_passes = 0, shared_passes_ideal = 0;  // over shared memory
  uint64_t local_sectors = 0;                           // of local memory: the fewest are none

  bool empty() const {
    return warps == 0 && threads == 0 && sectors == 0 && shared_passes == 0 && local_sectors == 0;
  }
  void add(const InstructionCounts& more);
  // None: nothing of the kind was counted.
  std::optional<double> active_threads() const;  // of the 32 of a warp
  std::optional<double> predicated_off() const;  // share of active threads that a predicate let not
  std::optional<double> sector_factor() const;   // 4.0: four times the sectors needed
  std::optional<double> shared_factor() const;   // likewise, passes over shared memory
  // How much there was beyond what was needed; 0 where either was not counted.
  uint64_t idle_threads() const;  // of warps that executed
  uint64_t excess_sectors() const;
  uint64_t excess_passes() const;  // over shared memory
};

// One function of one module on one GPU.
struct CountedFunction {
  std::string function;  // as the log has it: mangled
  uint64_t module = 0;   // `id` of its `module` line
  int64_t device = -1;   // -1: the log does not say
  InstructionCounts total;
  std::map<int64_t, InstructionCounts> by_pc;  // by offset in the function, in bytes
};

// Those of the options' device and window.
std::vector<CountedFunction> counted_functions(const Tables& tables,
                                               const AnalysisOptions& options = {});

struct CountedLine : InstructionCounts {
  std::string file;  // empty: instructions that no line is known of
  uint32_t line = 0;
};

struct CountedCode {
  InstructionCounts total;
  std::vector<InstructionCounts> instructions;  // as KernelCode::instructions
  std::vector<CountedLine> lines;               // most executed first
};

// `functions`: those that are in the code.
CountedCode join_counts(const disassembly::KernelCode& code,
                        const std::vector<const CountedFunction*>& functions);

}  // namespace gpufl::analysis
