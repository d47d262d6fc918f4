// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "format/session_header.hpp"

// Tells copies of a session (`cp -r`) from other sessions: what a folder holds twice happened once.
namespace gpufl::analysis {

class SessionCopies {
 public:
  // Whether it is a copy of one that was asked for before.
  bool is_copy(const format::SessionHeader& header, const std::filesystem::path& dir) {
    const auto [first, is_new] = first_.try_emplace(header.to_json().dump(), dir);
    if (!is_new) {
      notes_.push_back(dir.string() + " and " + first->second.string() +
                       " are copies of one session, which counts once");
    }
    return !is_new;
  }
  // A sentence for each copy.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::map<std::string, std::filesystem::path> first_;  // by what a session says of itself
  std::vector<std::string> notes_;
};

}  // namespace gpufl::analysis
