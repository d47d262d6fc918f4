// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Secrets that a user types or a program hands over: never as an argument, which everybody on the
// machine can read. Main thread.
namespace gpufl::cli {

// A line of standard input without its end and blanks around it; what is beyond a few KB is cut.
std::string read_secret_line();
// The same from the terminal, which does not show what is typed. Empty where there is no terminal.
std::string ask_for_secret(const std::string& question);

}  // namespace gpufl::cli
