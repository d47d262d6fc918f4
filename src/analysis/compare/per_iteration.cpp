// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/per_iteration.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace gpufl::analysis::compare {
namespace {

std::string range_text(const IterationNumbers::Side& side) {
  return side.low == side.high ? fmt::format("{}", side.low)
                               : fmt::format("{} to {}", side.low, side.high);
}

double kernels_of_one(const RepeatIterations& iterations) {
  const auto total = iterations.items.find(Key{});
  return total == iterations.items.end() ? 0 : total->second[Metric::Count].value_or(0);
}

// Whether an iteration of both is about the same work.
bool are_alike(const RepeatIterations& a, const RepeatIterations& b) {
  if (a.is_named && a.label == b.label) return true;
  const auto [fewer, more] = std::minmax({kernels_of_one(a), kernels_of_one(b)});
  return fewer > 0 && more <= kMostKernelsRatio * fewer;
}

}  // namespace

std::string iterations_text(const IterationNumbers& numbers, std::string_view a,
                            std::string_view b) {
  const std::string found =
      numbers.a.label == numbers.b.label
          ? numbers.a.label
          : fmt::format("{} in {}, {} in {}", numbers.a.label, a, numbers.b.label, b);
  return fmt::format("Per iteration: {} iterations in {}, {} in {} ({})", range_text(numbers.a), a,
                     range_text(numbers.b), b, found);
}

std::optional<IterationNumbers> different_iterations(const Group& a, const Group& b) {
  if (a.repeats.empty() || b.repeats.empty()) return std::nullopt;
  const std::optional<RepeatIterations>& first = a.repeats.front().iterations;
  if (!first) return std::nullopt;
  IterationNumbers numbers;
  for (const auto& [group, side] : {std::pair(&a, &numbers.a), std::pair(&b, &numbers.b)}) {
    side->low = SIZE_MAX;
    for (const Repeat& repeat : group->repeats) {
      if (!repeat.iterations || !are_alike(*first, *repeat.iterations)) return std::nullopt;
      if (side->label.empty()) side->label = repeat.iterations->label;
      side->low = std::min(side->low, repeat.iterations->count);
      side->high = std::max(side->high, repeat.iterations->count);
    }
  }
  const auto is_first = [&](const IterationNumbers::Side& side) {
    return side.low == first->count && side.high == first->count;
  };
  if (is_first(numbers.a) && is_first(numbers.b)) return std::nullopt;
  return numbers;
}

Group for_one_iteration(const Group& group) {
  Group one = group;
  for (Repeat& repeat : one.repeats) {
    repeat.items = std::move(repeat.iterations->items);
    repeat.iterations.reset();
  }
  return one;
}

}  // namespace gpufl::analysis::compare
