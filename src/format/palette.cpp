// SPDX-License-Identifier: Apache-2.0
#include "format/palette.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace gpufl::format {
namespace {

constexpr size_t kMaxEntries = 4096;

template <typename T>
void permute(std::vector<T>& values, const std::vector<uint32_t>& order) {
  std::vector<T> sorted(values.size());
  for (size_t i = 0; i < order.size(); ++i) sorted[i] = values[order[i]];
  values.swap(sorted);
}

}  // namespace

void Palette::clear() {
  ids_.clear();
  index_.clear();
  counts_.clear();
}

bool Palette::build(std::span<const int64_t> values) {
  clear();
  const size_t max_entries = std::min(kMaxEntries, values.size() / 2);
  const int bits = std::bit_width(2 * max_entries);
  slots_.assign(size_t{1} << bits, 0);
  const size_t mask = slots_.size() - 1;
  index_.resize(values.size());
  for (size_t row = 0; row < values.size(); ++row) {
    const int64_t value = values[row];
    size_t slot = (static_cast<uint64_t>(value) * 0x9E3779B97F4A7C15) >> (64 - bits);
    while (slots_[slot] != 0 && ids_[slots_[slot] - 1] != value) slot = (slot + 1) & mask;
    if (slots_[slot] == 0) {
      if (ids_.size() == max_entries) {
        clear();
        return false;
      }
      ids_.push_back(value);
      counts_.push_back(0);
      slots_[slot] = static_cast<uint32_t>(ids_.size());
    }
    const uint32_t entry = slots_[slot] - 1;
    ++counts_[entry];
    index_[row] = entry;
  }

  order_.resize(ids_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::stable_sort(order_.begin(), order_.end(),
                   [this](uint32_t a, uint32_t b) { return counts_[a] > counts_[b]; });
  rank_.resize(ids_.size());
  for (size_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = static_cast<uint32_t>(i);
  permute(ids_, order_);
  permute(counts_, order_);
  for (uint64_t& entry : index_) entry = rank_[entry];
  return true;
}

}  // namespace gpufl::format
