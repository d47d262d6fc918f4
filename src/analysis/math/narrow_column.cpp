// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/narrow_column.hpp"

#include <utility>

namespace gpufl::analysis {

uint32_t NarrowColumn::stored(int64_t value, size_t row) {
  if (is_narrow(value)) return static_cast<uint32_t>(value);
  if (value == -1) {
    has_minus_one_ = true;
    return kMinusOne;
  }
  wide_.emplace(row, value);
  return kElsewhere;
}

void NarrowColumn::append(const NarrowColumn& other) {
  const size_t before = size();
  has_minus_one_ |= other.has_minus_one_;
  values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  for (const auto& [row, value] : other.wide_) wide_.emplace(before + row, value);
}

void NarrowColumn::append(const std::vector<int64_t>& values) {
  const size_t before = size();
  values_.resize(before + values.size());
  uint32_t* const out = values_.data() + before;
  // Without a branch: almost always that is all there is to do.
  uint64_t seen = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<uint64_t>(values[i]);
    seen |= value;
    out[i] = static_cast<uint32_t>(value);
  }
  if (seen < kMinusOne) return;
  for (size_t i = 0; i < values.size(); ++i) out[i] = stored(values[i], before + i);
}

void NarrowColumn::append(size_t rows, int64_t value) {
  if (is_narrow(value) || value == -1) {
    if (rows > 0) values_.resize(size() + rows, stored(value, size()));
  } else {
    for (size_t i = 0; i < rows; ++i) push_back(value);
  }
}

void NarrowColumn::reorder(const std::vector<uint32_t>& order) {
  std::vector<uint32_t> values(order.size());
  std::unordered_map<size_t, int64_t> wide;
  for (size_t row = 0; row < order.size(); ++row) {
    values[row] = values_[order[row]];
    if (values[row] == kElsewhere) wide.emplace(row, wide_.at(order[row]));
  }
  values_ = std::move(values);
  wide_ = std::move(wide);
}

}  // namespace gpufl::analysis
