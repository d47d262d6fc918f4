// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "format/batch.hpp"

// Rows of one kind that stand elsewhere: in a Batch, or in columns of another memory. What a line
// is encoded from. Valid as long as those are and nobody changes them.
namespace gpufl::format {

class BatchView {
 public:
  explicit BatchView(const Batch& batch) : spec_(&batch.kind_spec()), rows_(batch.rows()) {
    columns_.reserve(spec_->columns.size());
    for (size_t i = 0; i < spec_->columns.size(); ++i) columns_.emplace_back(batch.column(i));
  }
  // A column for each of the kind; one that is empty is absent.
  template <typename Columns>
  BatchView(const KindSpec& kind, size_t rows, const Columns& columns)
      : spec_(&kind), columns_(columns.begin(), columns.end()), rows_(rows) {}

  const KindSpec& kind_spec() const { return *spec_; }
  size_t rows() const { return rows_; }
  bool has(size_t column) const { return columns_[column].size() == rows_ && rows_ != 0; }
  std::span<const int64_t> column(size_t i) const { return columns_[i]; }

 private:
  const KindSpec* spec_;
  std::vector<std::span<const int64_t>> columns_;
  size_t rows_;
};

}  // namespace gpufl::format
