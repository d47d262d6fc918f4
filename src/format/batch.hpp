// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "format/schema.hpp"

// Rows of one kind, held as columns of int64. A column is present for all rows or absent; Id64
// columns hold the bits of a uint64. One thread at a time; reuse one and clear() it.
namespace gpufl::format {

class Batch {
 public:
  explicit Batch(Kind kind) : spec_(&spec(kind)), columns_(spec_->columns.size()) {}

  Kind kind() const { return spec_->kind; }
  const KindSpec& kind_spec() const { return *spec_; }
  size_t rows() const { return rows_; }
  bool empty() const { return rows_ == 0; }
  bool has(size_t column) const { return columns_[column].size() == rows_ && rows_ != 0; }

  const std::vector<int64_t>& column(size_t i) const { return columns_[i]; }
  // For filling: resize or push, then set_rows. A column left empty is absent.
  std::vector<int64_t>& mutable_column(size_t i) { return columns_[i]; }
  void set_rows(size_t rows) { rows_ = rows; }

  // The value, or `fallback` where the column is absent.
  int64_t at(size_t column, size_t row, int64_t fallback = 0) const {
    return has(column) ? columns_[column][row] : fallback;
  }

  // Appends one row; `values` has one value for every column of the kind. Only for batches whose
  // columns are all present.
  void push_row(std::initializer_list<int64_t> values) {
    size_t i = 0;
    try {
      for (int64_t v : values) columns_[i++].push_back(v);
    } catch (...) {
      for (auto& c : columns_)
        c.resize(std::min(c.size(), rows_));  // no row rather than half a one
      throw;
    }
    ++rows_;
  }

  void clear() {
    for (auto& c : columns_) c.clear();
    rows_ = 0;
  }

 private:
  const KindSpec* spec_;
  std::vector<std::vector<int64_t>> columns_;
  size_t rows_ = 0;
};

}  // namespace gpufl::format
