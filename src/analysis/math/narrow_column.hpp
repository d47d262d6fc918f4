// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

// A column of int64 of which almost all fit 32 bits without a sign, or are the -1 that stands for
// what is not known: four bytes each, the others beside them, all exact. Filling: one thread;
// reading: any number.
namespace gpufl::analysis {

class NarrowColumn {
 public:
  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }

  int64_t operator[](size_t row) const {
    const uint32_t value = values_[row];
    if (value < kMinusOne) return value;
    return value == kMinusOne ? -1 : wide_.at(row);
  }

  void push_back(int64_t value) { values_.push_back(stored(value, values_.size())); }
  void reserve(size_t rows) { values_.reserve(rows); }
  size_t capacity() const { return values_.capacity(); }
  const uint32_t* data() const { return values_.data(); }
  void append(const NarrowColumn& other);
  void append(const std::vector<int64_t>& values);
  void append(size_t rows, int64_t value);
  // Row i becomes what row `order[i]` was.
  void reorder(const std::vector<uint32_t>& order);

  // As they are stored, for loops over many rows: where is_plain(), these are the values.
  const std::vector<uint32_t>& narrow() const { return values_; }
  bool is_plain() const { return wide_.empty() && !has_minus_one_; }
  size_t bytes() const {
    return values_.capacity() * sizeof(uint32_t) + wide_.size() * 4 * sizeof(int64_t);
  }

 private:
  static constexpr uint32_t kElsewhere = UINT32_MAX, kMinusOne = kElsewhere - 1;
  static constexpr bool is_narrow(int64_t value) { return value >= 0 && value < kMinusOne; }
  // What stands for the value of that row.
  uint32_t stored(int64_t value, size_t row);

  std::vector<uint32_t> values_;
  bool has_minus_one_ = false;
  std::unordered_map<size_t, int64_t> wide_;  // by row
};

}  // namespace gpufl::analysis
