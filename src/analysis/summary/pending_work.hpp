// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/summary/name_table.hpp"
#include "format/batch.hpp"
#include "format/session_reader.hpp"

// What had begun and not ended when the log ends: `pending` rows without another row of the same
// correlation id. That one comes later, or, because a flush writes its rows kind by kind, right
// before: the latest batch of each kind is remembered. A launch whose kernel is known ends with
// that, not with the call. One thread.
namespace gpufl::analysis {

struct PendingWork {
  std::string function;
  int64_t time_ns = 0;  // when the call began
  int64_t thread = 0;
  int64_t device = -1;  // -1: unknown
  int64_t correlation = 0;
  int64_t scope = 0;
  std::string kernel = {};  // that it launched, demangled; empty: unknown, or none
};

class PendingTable {
 public:
  explicit PendingTable(NameTable& names) : names_(names) {}
  // Every batch, in log order.
  void add(const format::Batch& batch, const format::Dictionaries& dictionaries);
  std::vector<PendingWork> finish() const;  // oldest first

 private:
  static constexpr size_t kMaxPending = 65'536;

  struct Rows {
    std::vector<int64_t> ids, times_ns;
  };
  void add_pending(const format::Batch& batch, const format::Dictionaries& dictionaries);

  NameTable& names_;
  std::unordered_map<int64_t, PendingWork> pending_;  // by correlation id
  std::array<Rows, format::kKindCount> latest_;
  std::vector<uint32_t> row_names_;  // scratch
};

}  // namespace gpufl::analysis
