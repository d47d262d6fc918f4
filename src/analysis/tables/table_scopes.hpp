// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/tables/tables.hpp"
#include "format/batch.hpp"

// The table of scopes, from the rows of those that ended and of those that were open. One thread;
// memory is proportional to the scopes.
namespace gpufl::analysis {

class TableScopes {
 public:
  void add_ended(const format::Batch& rows);
  void add_open(const format::Batch& rows);

  // In order of start, a parent before its children. `end_ns`: until when open ones have lasted.
  Scopes finish(int64_t end_ns);
  // The row of the scope that the log calls `id`, after finish(); kNoRow: it has none.
  uint32_t row_of(int64_t id) const;

 private:
  using Open = std::array<int64_t, format::scope_open_column::kCount>;  // a row

  void add_still_open(int64_t end_ns);
  void sort();

  Scopes scopes_;  // but for `parent`
  std::vector<int64_t> parent_ids_;
  std::unordered_map<int64_t, Open> open_;
  std::unordered_map<int64_t, uint32_t> rows_;  // by id
};

}  // namespace gpufl::analysis
