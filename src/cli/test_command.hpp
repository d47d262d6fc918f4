// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/gpufl_cli.hpp"

// Tests run `gpufl` in their own process.
namespace gpufl::cli::testing {

struct TypedOutcome {
  int exit_code = -1;
  std::string out, err;
};

// Of words with blanks between them, as in "report --width 100 session".
inline std::vector<std::string> words_of(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

// Words without the program's name; returns its exit code.
inline int run_here(std::vector<std::string> words) {
  words.insert(words.begin(), "gpufl");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  const int exit_code = run_gpufl(static_cast<int>(argv.size()), argv.data());
  std::fflush(stdout);
  return exit_code;
}

inline TypedOutcome run_words(std::vector<std::string> words) {
  TypedOutcome outcome;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  outcome.exit_code = run_here(std::move(words));
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.err = ::testing::internal::GetCapturedStderr();
  return outcome;
}

inline TypedOutcome run_typed(const std::string& line) { return run_words(words_of(line)); }

}  // namespace gpufl::cli::testing
