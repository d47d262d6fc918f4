// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "format/session_header.hpp"

// Tells copies of a session (`cp -r`, or the same trace imported again) from other sessions: what a
// folder holds twice happened once.
namespace gpufl::analysis {

class SessionCopies {
 public:
  // Whether it is a copy of one that was asked for before.
  bool is_copy(const format::SessionHeader& header, const std::filesystem::path& dir) {
    const auto [first, is_new] = first_.try_emplace(key_of(header), dir);
    if (!is_new) {
      notes_.push_back(dir.string() + " and " + first->second.string() +
                       " are copies of one session, which counts once");
    }
    return !is_new;
  }
  // A sentence for each copy.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  // What made the id unique; what was imported has its hash there. The time before it may be that
  // of the file, which copies do not share. An id of another make says nothing alone.
  static std::string key_of(const format::SessionHeader& header) {
    constexpr size_t kDigits = 16;
    const std::string& id = header.session_id;
    const bool is_ours = id.size() > kDigits && id[id.size() - kDigits - 1] == '-';
    return is_ours ? id.substr(id.size() - kDigits) : header.to_json().dump();
  }

  std::map<std::string, std::filesystem::path> first_;  // by key_of()
  std::vector<std::string> notes_;
};

}  // namespace gpufl::analysis
