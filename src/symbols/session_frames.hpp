// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json.hpp"

// The stacks and frames of a session as its `dict` lines tell them, without symbols. Ids stand for
// the same in every file of a session, so lines may come from all of them, in any number. One
// thread; memory is bounded by the format's dictionaries.
namespace gpufl::symbols {

// One place in the code. Python: function, file, line. Native: module, offset, build id.
struct RecordedFrame {
  int64_t function = 0;          // of the dictionary `name`
  int64_t file = 0, module = 0;  // of the dictionary `text`
  int64_t line = 0;
  uint64_t offset = 0;  // of a return address
  std::string build_id;
  bool is_native() const { return module != 0; }
};

class SessionFrames {
 public:
  void add(const base::Json& dict_line);

  const std::unordered_map<int64_t, RecordedFrame>& frames() const { return frames_; }
  // Ids of frames, innermost first.
  const std::unordered_map<int64_t, std::vector<int64_t>>& stacks() const { return stacks_; }
  const std::string& name(int64_t id) const { return find(names_, id); }
  const std::string& text(int64_t id) const { return find(texts_, id); }

 private:
  using Strings = std::unordered_map<int64_t, std::string>;
  static const std::string& find(const Strings& strings, int64_t id);  // empty: not defined

  std::unordered_map<int64_t, RecordedFrame> frames_;
  std::unordered_map<int64_t, std::vector<int64_t>> stacks_;
  Strings names_, texts_;
};

}  // namespace gpufl::symbols
