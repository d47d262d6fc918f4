// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/math/large_pages.hpp"
#include "analysis/math/narrow_column.hpp"
#include "analysis/tables/tables.hpp"
#include "format/batch.hpp"

// Appends the rows of a batch to columns of a table. After each batch a column has a value for
// every row of the table, or none at all. One thread.
namespace gpufl::analysis {

// The value in a smaller type: -1 as the type's largest. What does not fit, and no writer writes,
// becomes the largest but one, so that those which stand for "none" stay what they are. Ids beyond
// stay unknown ones.
template <typename T>
inline constexpr T kTooLarge = std::numeric_limits<T>::max() - 1;
template <typename T>
constexpr T narrowed(int64_t value) {
  if constexpr (sizeof(T) == sizeof(int64_t)) {
    return static_cast<T>(value);
  } else if (value == -1) {
    return static_cast<T>(-1);
  } else {
    return std::in_range<T>(value) ? std::min(static_cast<T>(value), kTooLarge<T>) : kTooLarge<T>;
  }
}

class TableAppend {
 public:
  // `rows_before`: of the table. `expected`: how many rows it will come to, as far as anybody
  // knows: columns then grow once, which saves half of the memory and much of the time.
  TableAppend(const format::Batch& batch, size_t rows_before, size_t expected = 0)
      : batch_(batch),
        rows_before_(rows_before),
        rows_(rows_before + batch.rows()),
        expected_(expected) {}

  // Room for what is expected, in a column that has none for this batch.
  template <typename Column>
  void make_room(Column& column) const {
    if (column.capacity() >= rows_ || expected_ <= rows_) return;
    column.reserve(expected_);
    prefer_large_pages(column.data(), expected_ * sizeof(*column.data()));
  }

  // A column that stays empty until a batch has it. `i`: the batch's; format::kNoColumn: none.
  template <typename Column>
  void operator()(Column& column, size_t i, int64_t absent = 0) const {
    if (has(i)) {
      make_room(column);
      fill(column, rows_before_, absent);
      add(column, batch_.column(i));
    } else if (column.size() != 0) {
      fill(column, rows_, absent);
    }
  }
  // The same, of times: -1 in a batch is what the writer did not know, and so is whatever else is
  // before the session, which no writer writes.
  void times(std::vector<int64_t>& column, size_t i) const {
    const size_t before = column.size();
    (*this)(column, i, kNoTime);
    std::replace_if(
        column.begin() + static_cast<ptrdiff_t>(before), column.end(),
        [](int64_t time) { return time < 0; }, kNoTime);
  }
  // One of those two, as the description of the column says.
  template <typename Column>
  void described(Column& column, size_t i) const {
    const format::ColumnSpec& spec = batch_.kind_spec().columns[i];
    if constexpr (std::is_same_v<Column, std::vector<int64_t>>) {
      if (spec.type == format::ColumnType::Time && !spec.required) return times(column, i);
    }
    (*this)(column, i, spec.absent);
  }
  // A column that every row has.
  template <typename Column>
  void always(Column& column, size_t i, int64_t absent = 0) const {
    make_room(column);
    if (has(i)) {
      add(column, batch_.column(i));
    } else {
      fill(column, rows_, absent);
    }
  }
  template <typename Column>
  void always_described(Column& column, size_t i) const {
    always(column, i, batch_.kind_spec().columns[i].absent);
  }

 private:
  bool has(size_t i) const { return i != format::kNoColumn && batch_.has(i); }
  template <typename T>
  static void fill(std::vector<T>& column, size_t rows, int64_t absent) {
    column.resize(rows, static_cast<T>(absent));
  }
  static void fill(NarrowColumn& column, size_t rows, int64_t absent) {
    column.append(rows - column.size(), absent);
  }
  template <typename T>
  static void add(std::vector<T>& column, const std::vector<int64_t>& values) {
    if constexpr (std::is_same_v<T, int64_t>) {
      column.insert(column.end(), values.begin(), values.end());
    } else {
      const size_t before = column.size();
      column.resize(before + values.size());
      std::transform(values.begin(), values.end(), column.data() + before, narrowed<T>);
    }
  }
  static void add(NarrowColumn& column, const std::vector<int64_t>& values) {
    column.append(values);
  }

  const format::Batch& batch_;
  size_t rows_before_, rows_, expected_;
};

}  // namespace gpufl::analysis
