// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdio.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "symbols/elf_file.hpp"

// The programs of fixture/, run: where they say that they called from. For tests only.
namespace gpufl::symbols::testing {

namespace fs = std::filesystem;

inline const fs::path kFixtures = GPUFL_FIXTURE_DIR;
inline const fs::path kFixtureSources = GPUFL_FIXTURE_SOURCE_DIR;

struct Call {
  uint64_t offset = 0;  // of the return address
  int64_t line = 0;
  std::string module;  // "-": the program itself
};

inline std::map<std::string, Call> run_fixture(const fs::path& program) {
  std::map<std::string, Call> calls;
  // NOLINTNEXTLINE(bugprone-command-processor): the compiler, with arguments of our own
  FILE* pipe = popen(program.c_str(), "r");
  if (pipe == nullptr) return calls;
  char line[4096];
  while (fgets(line, sizeof(line), pipe) != nullptr) {
    std::istringstream words(line);
    std::string tag, offset, number, module;
    words >> tag >> offset >> number >> module;
    calls[tag] = {std::stoull(offset, nullptr, 16), std::stoll(number), module};
  }
  pclose(pipe);
  EXPECT_EQ(calls.size(), 7u) << program;
  return calls;
}

// The line of a source file that holds `text`.
inline int64_t line_of(const fs::path& file, const std::string& text) {
  std::ifstream lines(file);
  std::string line;
  for (int64_t number = 1; std::getline(lines, line); ++number) {
    if (line.find(text) != std::string::npos) return number;
  }
  ADD_FAILURE() << file << " has no " << text;
  return 0;
}

inline std::string build_id_of(const LibdwApi& libdw, const fs::path& file) {
  const auto opened = ElfFile::open(libdw, file);
  return opened ? (*opened)->build_id() : "";
}

}  // namespace gpufl::symbols::testing
