// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string_view>

// Text for the standard streams. Neither throws nor complains when the other end of a pipe has gone
// (fmt::print would throw).
namespace gpufl::cli {

// False when nobody takes it any more.
inline bool print(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
}

inline void print_error(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace gpufl::cli
