// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Names that a mistyped one may have meant. Pure functions; any thread.
namespace gpufl::text {

// How many times a character has to be inserted, deleted, replaced or swapped with its neighbour to
// make one of the other. Time grows with the product of their lengths.
size_t edits_between(std::string_view a, std::string_view b);

// The candidate fewest edits away from `word`, whatever the case; empty where none is near enough
// to be meant.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

// "'Trce' is not one of Monitor, Trace; did you mean 'Trace'?"
std::string not_one_of(std::string_view word, const std::vector<std::string_view>& candidates);

// "step, warmup and 7 more": those nearest to `pattern` first, which may have * and ?. Names that
// contain it are the nearest, whatever their case. Empty where there is none.
std::string nearest_listed(std::string_view pattern, std::vector<std::string> names,
                           size_t most = 5);

}  // namespace gpufl::text
