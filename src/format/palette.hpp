// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/page_allocator.hpp"

// The distinct values of a column, most frequent first, and for each row which of them it has.
// Scratch memory of the encoder: reuse one; one thread.
namespace gpufl::format {

class Palette {
 public:
  // False when there are more distinct values than are worth a palette; the palette is then empty.
  bool build(std::span<const int64_t> values);
  void clear();

  bool empty() const { return ids_.empty(); }
  const std::vector<int64_t>& ids() const { return ids_; }
  const base::PageVector<uint64_t>& index() const { return index_; }  // one per row
  const std::vector<uint32_t>& counts() const { return counts_; }

 private:
  std::vector<int64_t> ids_;
  base::PageVector<uint64_t> index_;
  std::vector<uint32_t> counts_;
  std::vector<uint32_t> slots_;  // hash table: 1 + place in ids_, 0 when free
  std::vector<uint32_t> order_, rank_;
};

}  // namespace gpufl::format
