// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "format/log_writer.hpp"
#include "import/trace.hpp"

// Rows of which each tells what it knows: a batch's columns are there for all rows or for none, so
// rows that know the same go into one batch. One thread.
namespace gpufl::importing {

class Row {
 public:
  Row& put(size_t column, int64_t value) {
    values_[column] = value;
    known_ |= uint32_t{1} << column;
    return *this;
  }
  Row& put_known(size_t column, int64_t value) {
    return value == kUnknown ? *this : put(column, value);
  }

 private:
  friend class RowBatches;
  static constexpr size_t kMaxColumns = 24;
  std::array<int64_t, kMaxColumns> values_;
  uint32_t known_ = 0;
};

class RowBatches {
 public:
  explicit RowBatches(format::LogWriter& log) : log_(log) {}

  // `time_ns`: session time to which the log has come.
  base::Status add(format::Kind kind, const Row& row, int64_t time_ns);
  base::Status write_all(int64_t time_ns);

 private:
  struct Part {
    uint32_t known;
    format::Batch rows;
  };
  format::LogWriter& log_;
  std::vector<Part> parts_;
  size_t last_ = 0;  // most rows know what the one before knew
};

}  // namespace gpufl::importing
