// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/compare/group.hpp"

// Sums and counts of runs that did more or fewer iterations, for one iteration. Pure functions.
namespace gpufl::analysis::compare {

struct IterationNumbers {
  struct Side {
    std::string label;         // as RepeatIterations has it, of the first repeat
    size_t low = 0, high = 0;  // of the repeats
  };
  Side a, b;
};
// "Per iteration: 100 iterations in A, 98 to 120 in B (scopes: train > step)". `a` and `b` are
// what the sides are called.
std::string iterations_text(const IterationNumbers& numbers, std::string_view a,
                            std::string_view b);

// Unless all repeats have equally many iterations. None either where some have none that are known,
// or ones that do not seem to be the same: of another name, or found without one, and with other
// numbers of kernels.
std::optional<IterationNumbers> different_iterations(const Group& a, const Group& b);
inline constexpr double kMostKernelsRatio = 1.5;

// The group with the figures of one iteration for those of the whole. Every repeat has iterations.
Group for_one_iteration(const Group& group);

}  // namespace gpufl::analysis::compare
