// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/name_table.hpp"
#include "format/batch.hpp"
#include "format/session_reader.hpp"

// What had begun and not ended when the log ends: `pending` rows without a later row of the same
// correlation id. Looks at other rows only while there are any. One thread.
namespace gpufl::analysis {

struct PendingWork {
  std::string function;
  int64_t time_ns = 0;  // when the call began
  int64_t thread = 0;
  int64_t device = -1;  // -1: unknown
  int64_t correlation = 0;
  int64_t scope = 0;
};

class PendingTable {
 public:
  explicit PendingTable(NameTable& names) : names_(names) {}
  // Every batch, in log order.
  void add(const format::Batch& batch, const format::Dictionaries& dictionaries);
  std::vector<PendingWork> finish() const;  // oldest first

 private:
  static constexpr size_t kMaxPending = 65'536;

  NameTable& names_;
  std::unordered_map<int64_t, PendingWork> pending_;  // by correlation id
  std::vector<uint32_t> row_names_;                   // scratch
};

}  // namespace gpufl::analysis
