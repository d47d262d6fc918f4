// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
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
  explicit TableKeys(Key absent) : absent_(absent) {}

  // Appends the index of each row's key. A comparison a row, a look-up where the key changes.
  void append(const format::Batch& batch, const Columns& columns, std::vector<uint32_t>& out);
  // In order of first appearance.
  const std::vector<Key>& keys() const { return keys_; }

 private:
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  uint32_t index_of(const Key& key);

  Key absent_;
  std::vector<Key> keys_;
  std::unordered_map<Key, uint32_t, Hash> indices_;
};

}  // namespace gpufl::analysis
