// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/symbol_file.hpp"

// Gathers source lines around places in the code, within a limit of bytes and outside of roots that
// are not wanted. Reads only regular files that are called like source: paths come from a log.
// Files are read when collect() is called; one thread.
namespace gpufl::symbols {

struct SourceOptions {
  bool enabled = true;
  uint64_t max_bytes = uint64_t{8} << 20;
  int64_t context_lines = 5;  // before and after
  // Where recorded paths are looked for besides themselves: whole, and by their last parts.
  std::vector<std::filesystem::path> roots;
  std::vector<std::filesystem::path> excluded_roots;
  int64_t recorded_wall_ns = 0;  // when the recording began
};

class SourceLines {
 public:
  explicit SourceLines(SourceOptions options) : options_(std::move(options)) {}

  void want(const std::string& file, int64_t line);
  struct Outcome {
    std::vector<SourceText> sources;  // by path and line
    uint64_t bytes = 0;
    uint64_t missing = 0;   // files that are not there, or no source
    uint64_t excluded = 0;  // files below an excluded root
    uint64_t beyond = 0;    // files left out because the limit was reached
  };
  Outcome collect() const;
  // Whether no text of that file is to be kept, wherever it was read.
  bool is_excluded(const std::filesystem::path& file) const;

 private:
  std::filesystem::path find(const std::string& file) const;  // empty: not there
  // Takes the wanted lines of one file, each run of them as a copy of `pattern`. False: no room.
  bool take(const std::set<int64_t>& wanted, SourceText pattern,
            const std::vector<std::string_view>& lines, Outcome& outcome) const;

  SourceOptions options_;
  std::map<std::string, std::set<int64_t>> wanted_;
};

}  // namespace gpufl::symbols
