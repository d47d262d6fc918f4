// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "export/cell.hpp"
#include "sql/output_vector.hpp"

// What a query reads: a table with columns, in parts that threads may read side by side, each a
// vector of rows at a time. DuckDB knows them as table functions (table_functions.hpp).
namespace gpufl::sql {

inline constexpr size_t kVectorRows = 2048;  // what DuckDB takes at a time

// Rows that began, or whose time is, within it: `from_ns` among them, `to_ns` not.
struct TimeRange {
  int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;

  bool is_everything() const { return from_ns == INT64_MIN && to_ns == INT64_MAX; }
  bool contains(int64_t time_ns) const { return time_ns >= from_ns && time_ns < to_ns; }
};

struct ScanRequest {
  std::vector<size_t> columns;  // that are wanted, in the order of the output
  TimeRange range;
};

// Where it runs; all outlive it.
struct ScanPlace {
  const DuckdbApi& api;
  TextStore& texts;                       // what texts in the output point into
  const std::atomic<bool>& is_cancelled;  // once it is set, next() fails
};

// One part while it is read, by one thread at a time.
class TableRows {
 public:
  virtual ~TableRows() = default;
  // Writes up to kVectorRows rows; a vector for each column that is wanted. 0: there are no more.
  virtual base::Result<size_t> next(std::span<const OutputVector> out) = 0;
};

class Table {
 public:
  Table(std::string name, std::string sentence, std::vector<exporting::ColumnHead> columns)
      : name_(std::move(name)), sentence_(std::move(sentence)), columns_(std::move(columns)) {}
  virtual ~Table() = default;

  const std::string& name() const { return name_; }
  const std::string& sentence() const { return sentence_; }  // for people
  const std::vector<exporting::ColumnHead>& columns() const { return columns_; }

  virtual bool has_range() const { return false; }
  virtual size_t parts() const { return 1; }
  // About how many rows there are; nothing: nobody knows.
  virtual std::optional<uint64_t> expected_rows() const { return {}; }
  // Any thread.
  virtual std::unique_ptr<TableRows> open(size_t part, const ScanRequest& request,
                                          const ScanPlace& place) const = 0;

 private:
  std::string name_, sentence_;
  std::vector<exporting::ColumnHead> columns_;
};

}  // namespace gpufl::sql
