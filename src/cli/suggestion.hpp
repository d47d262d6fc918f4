// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

// The "did you mean" of command lines. Pure; any thread.
namespace gpufl::cli {

// The candidate fewest edits (insert, delete, replace, swap of neighbours) away from `word`; empty
// when none is near enough to be meant.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace gpufl::cli
