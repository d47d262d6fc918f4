// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figures/kernel_stalls.hpp"
#include "disassembly/kernel_code.hpp"

// The code of a kernel with the samples that were taken in it: which line and which instruction is
// slow. Pure functions.
namespace gpufl::analysis {

struct SampleCount {
  uint64_t samples = 0;
  StallCounts stalls;
  void add(const StallCounts& more);
};

// A line that instructions come from: the innermost of the program's own, where a library's
// function was inlined into it.
struct SampledLine : SampleCount {
  std::string file;  // empty: instructions that no line is known of
  uint32_t line = 0;
  std::vector<uint32_t> instructions;  // indices of KernelCode::instructions
};

struct SampledCode : SampleCount {
  uint64_t unlocated = 0;                 // of the samples, those that no instruction is known of
  std::vector<SampleCount> instructions;  // as KernelCode::instructions
  std::vector<SampledLine> lines;         // most samples first, then by file and line
};

// The place of a chain that is shown.
const disassembly::SourcePlace& shown_place(const disassembly::KernelCode& code,
                                            const disassembly::InlineChain& chain);

// The index of the instruction at an offset; none: there is none.
std::optional<size_t> instruction_at(const disassembly::KernelCode& code, int64_t offset);
// File and line that an instruction is shown at; empty and 0: none is known.
std::pair<std::string, uint32_t> line_of(const disassembly::KernelCode& code,
                                         const disassembly::Instruction& instruction);

// `stalls`: those of functions that are in the code.
SampledCode join_samples(const disassembly::KernelCode& code,
                         const std::vector<const KernelStalls*>& stalls);

}  // namespace gpufl::analysis
