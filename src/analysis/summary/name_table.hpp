// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/batch.hpp"
#include "format/session_reader.hpp"

// Strings as small dense numbers. Dictionary ids of a log are only good within the file that
// defines them; these are good for a whole session. One thread.
namespace gpufl::analysis {

class NameTable {
 public:
  NameTable() { id(""); }
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;

  static constexpr uint32_t kEmpty = 0;  // the empty string's
  uint32_t id(std::string_view text);
  const std::string& text(uint32_t id) const { return texts_[id]; }

  // The names of a dictionary column, one per row. An absent column and the id 0 give empty
  // strings, an id without a definition "?".
  void resolve(const format::Batch& batch, size_t column, const format::Dictionaries& dictionaries,
               std::vector<uint32_t>& out);

 private:
  std::deque<std::string> texts_;  // a deque: the map's keys point into it
  std::unordered_map<std::string_view, uint32_t> ids_;
  std::unordered_map<int64_t, uint32_t> batch_ids_;  // scratch of resolve()
};

}  // namespace gpufl::analysis
