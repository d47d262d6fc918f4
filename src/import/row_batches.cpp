// SPDX-License-Identifier: Apache-2.0
#include "import/row_batches.hpp"

namespace gpufl::importing {
namespace {

constexpr size_t kRowsOfLine = 16'384;

}  // namespace

base::Status RowBatches::add(format::Kind kind, const Row& row, int64_t time_ns) {
  const auto fits = [&](const Part& part) {
    return part.rows.kind() == kind && part.known == row.known_;
  };
  if (last_ >= parts_.size() || !fits(parts_[last_])) {
    last_ = 0;
    while (last_ < parts_.size() && !fits(parts_[last_])) ++last_;
    if (last_ == parts_.size()) parts_.push_back({row.known_, format::Batch(kind)});
  }
  format::Batch& rows = parts_[last_].rows;
  for (size_t column = 0; column < rows.kind_spec().columns.size(); ++column) {
    if ((row.known_ >> column & 1) != 0) rows.mutable_column(column).push_back(row.values_[column]);
  }
  rows.set_rows(rows.rows() + 1);
  if (rows.rows() < kRowsOfLine) return base::Status::ok();
  log_.write(rows);
  rows.clear();
  return log_.flush(time_ns);
}

base::Status RowBatches::write_all(int64_t time_ns) {
  for (Part& part : parts_) {
    if (!part.rows.empty()) log_.write(part.rows);
    part.rows.clear();
  }
  return log_.flush(time_ns);
}

}  // namespace gpufl::importing
