// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/table_keys.hpp"

#include <algorithm>
#include <bit>

namespace gpufl::analysis {

namespace {

constexpr uint32_t kEmpty = UINT32_MAX;
constexpr size_t kFirstSlots = 64;

// Faster than ==, which calls memcmp.
bool is_same(const TableKeys::Key& a, const TableKeys::Key& b) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

}  // namespace

TableKeys::TableKeys(Key absent) : absent_(absent) { grow(); }

// Ids are small and dense, so they must be spread. The upper bits of a sum of products are, and
// these do not wait for each other.
size_t TableKeys::first_slot(const Key& key) const {
  const uint64_t hash = static_cast<uint64_t>(key[0]) * 0x9e3779b97f4a7c15u +
                        static_cast<uint64_t>(key[1]) * 0xbf58476d1ce4e5b9u +
                        static_cast<uint64_t>(key[2]) * 0x94d049bb133111ebu;
  return hash >> shift_;
}

void TableKeys::grow() {
  slots_.assign(std::max(2 * slots_.size(), kFirstSlots), kEmpty);
  shift_ = std::countl_zero(slots_.size() - 1);
  for (size_t i = 0; i < keys_.size(); ++i) {
    size_t slot = first_slot(keys_[i]);
    while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<uint32_t>(i);
  }
}

uint32_t TableKeys::index_of(const Key& key) {
  size_t slot = first_slot(key);
  while (slots_[slot] != kEmpty) {
    if (is_same(keys_[slots_[slot]], key)) return slots_[slot];
    slot = (slot + 1) & (slots_.size() - 1);
  }
  const auto index = static_cast<uint32_t>(keys_.size());
  slots_[slot] = index;
  keys_.push_back(key);
  if (2 * keys_.size() > slots_.size()) grow();
  return index;
}

void TableKeys::append(const format::Batch& batch, const Columns& columns,
                       std::vector<uint32_t>& out) {
  // A column that is not there has its first value in all rows.
  std::array<const int64_t*, 3> values{};
  std::array<size_t, 3> masks{};
  for (size_t part = 0; part < columns.size(); ++part) {
    const bool is_there = columns[part] != format::kNoColumn && batch.has(columns[part]);
    values[part] = is_there ? batch.column(columns[part]).data() : &absent_[part];
    masks[part] = is_there ? SIZE_MAX : 0;
  }
  const auto [a, b, c] = values;
  const auto [a_mask, b_mask, c_mask] = masks;
  const size_t rows = batch.rows();
  const size_t before = out.size();
  out.resize(before + rows);
  uint32_t* const indices = out.data() + before;
  for (size_t row = 0; row < rows;) {
    const Key key = {a[row & a_mask], b[row & b_mask], c[row & c_mask]};
    // Almost always it lies there; the rest is not worth its place in this loop.
    const uint32_t likely = slots_[first_slot(key)];
    const uint32_t index = likely != kEmpty && is_same(keys_[likely], key) ? likely : index_of(key);
    do {
      indices[row++] = index;
    } while (row < rows && a[row & a_mask] == key[0] && b[row & b_mask] == key[1] &&
             c[row & c_mask] == key[2]);
  }
}

}  // namespace gpufl::analysis
