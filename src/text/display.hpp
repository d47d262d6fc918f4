// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Text from anywhere on a terminal: what it takes there, and what it must not do. Pure functions;
// any thread.
namespace gpufl::text {

// Columns that a terminal needs for `text`; wide East Asian characters count two.
size_t display_width(std::string_view text);
std::string make_harmless(std::string_view text);
// Cut to `width` columns, the last three of them "..." where something was cut.
std::string fit(std::string_view text, size_t width);
// Bytes of the longest beginning that needs at most `width` columns.
size_t prefix_bytes(std::string_view text, size_t width);
// One word for a shell: in quotes where it needs them. Harmless.
std::string shell_word(std::string_view text);

}  // namespace gpufl::text
