// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/name_table.hpp"

namespace gpufl::analysis {

namespace {

constexpr int64_t kNone = 0;  // ids of a log count from 1

}  // namespace

uint32_t NameTable::id(std::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<uint32_t>(texts_.size());
  ids_.emplace(texts_.emplace_back(text), id);
  return id;
}

void NameTable::resolve(const format::Batch& batch, size_t column,
                        const format::Dictionaries& dictionaries, std::vector<uint32_t>& out) {
  out.assign(batch.rows(), kEmpty);
  if (!batch.has(column)) return;
  const format::Dict dict = batch.kind_spec().columns[column].dict;
  batch_ids_.clear();
  for (size_t row = 0; row < batch.rows(); ++row) {
    const int64_t dict_id = batch.column(column)[row];
    const auto [entry, is_new] = batch_ids_.try_emplace(dict_id, kEmpty);
    if (is_new && dict_id != kNone) entry->second = id(dictionaries.get(dict, dict_id));
    out[row] = entry->second;
  }
}

}  // namespace gpufl::analysis
