// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "format/batch.hpp"

// Three columns that say the same in row after row (device, context, stream; thread, scope,
// inherited) as one column of indices into the distinct rows of them. One thread.
namespace gpufl::analysis {

class TableKeys {
 public:
  using Key = std::array<int64_t, 3>;
  using Columns = std::array<size_t, 3>;  // of the batch; format::kNoColumn: it has none

  // `absent` is what columns hold that the batch lacks.
  explicit TableKeys(Key absent);

  // Appends the index of each row's key. A comparison a row, a look-up where the key changes,
  // however often that is.
  void append(const format::Batch& batch, const Columns& columns, std::vector<uint32_t>& out);
  // In order of first appearance.
  const std::vector<Key>& keys() const { return keys_; }

 private:
  uint32_t index_of(const Key& key);
  size_t first_slot(const Key& key) const;
  void grow();

  Key absent_;
  std::vector<Key> keys_;
  // Indices of keys, by their hash, in the first slot that is free from first_slot() on: a power of
  // two of them, at least half of which are empty.
  std::vector<uint32_t> slots_;
  int shift_ = 0;  // of a hash to a slot
};

}  // namespace gpufl::analysis
