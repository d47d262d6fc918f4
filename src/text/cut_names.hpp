// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Names cut so that those which differ still do, as far as there is room: a table of names that
// look alike says nothing. Pure functions; time grows with the names' bytes.
namespace gpufl::text {

// Cut to `width` columns with "..." in the middle.
std::string fit_ends(std::string_view text, size_t width);

// Each in at most `width` columns. One whose beginning no other name has keeps that; of several
// with one beginning, that part of it goes which leaves the most of them distinct.
std::vector<std::string> cut_names(std::span<const std::string> names, size_t width);

}  // namespace gpufl::text
