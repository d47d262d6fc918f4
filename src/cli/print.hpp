// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "text/display.hpp"

// Text for the standard streams. Neither throws nor complains when the other end of a pipe has gone
// (fmt::print would throw); run_command_line looks in the end whether stdout took everything.
namespace gpufl::cli {

// False when nobody takes it any more.
inline bool print(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
}

// Whether somebody still takes what goes to stdout: false once the other end of a pipe has gone.
bool has_reader();

inline void print_error(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

// One line "who: text" on stderr. What a log or a folder's name puts into it cannot steer the
// terminal.
inline void complain(std::string_view who, std::string_view text) {
  print_error(std::string(who) + ": " + text::make_harmless(text) + "\n");
}

// "FILE (1.500 MiB)": on stdout, unless what was written went there itself.
void tell_written(const std::filesystem::path& output, uint64_t bytes);
// Likewise, in other words.
void tell_written(const std::filesystem::path& output, std::string_view text);

}  // namespace gpufl::cli
