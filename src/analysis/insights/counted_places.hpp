// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figures/counted_code.hpp"
#include "analysis/insights/insight.hpp"
#include "analysis/insights/sampled_kernels.hpp"
#include "analysis/insights/session_view.hpp"
#include "disassembly/code_lines.hpp"

// Where in a kernel's code most of something happened that was counted by instruction: its line if
// the session keeps the code and that has lines, else the instruction. Reads images of code when
// it is first asked for one. One thread.
namespace gpufl::analysis {

class CountedPlaces {
 public:
  explicit CountedPlaces(const SessionView& view);

  // What is to be found: how much of it there is, and what is said of a place's counts.
  using Amount = uint64_t (*)(const InstructionCounts&);
  using Words = std::string (*)(const InstructionCounts&);
  // None: nothing of it was counted in the kernel.
  std::optional<Evidence> most(const SampledKernel& kernel, Amount amount, Words words);

 private:
  struct Place {
    InstructionCounts counts;
    std::string file;  // empty: the line is not known
    uint32_t line = 0;
    int64_t pc = 0;  // in the function
  };
  void add_places(const CountedFunction& function, std::vector<Place>& places);

  std::vector<CountedFunction> functions_;
  disassembly::CodeLines lines_;
};

}  // namespace gpufl::analysis
