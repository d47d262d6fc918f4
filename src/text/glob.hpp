// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// Patterns as in file names. Pure functions; any thread.
namespace gpufl::text {

// `*` any text, `?` one character.
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace gpufl::text
