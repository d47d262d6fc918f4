// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "sql/duckdb_api.hpp"

// Memory of DuckDB's that a column is written to, a vector at a time, and memory of ours that the
// texts in it point to.
namespace gpufl::sql {

// Texts that stay where they are. One thread adds; what is in it may be read by any.
class TextStore {
 public:
  duckdb::Text add(std::string_view text) {
    if (text.size() <= duckdb::Text::kInlined) return duckdb::Text::of(text);
    return duckdb::Text::of(texts_.emplace_back(text));
  }

 private:
  std::deque<std::string> texts_;
};

struct OutputVector {
  void* data = nullptr;
  uint64_t* validity = nullptr;  // a bit for each row, all of them set
  duckdb::Vector vector = nullptr;

  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
  void set_null(size_t row) const { validity[row / 64] &= ~(uint64_t{1} << (row % 64)); }

  // All rows the same, which DuckDB then looks at once.
  void set_all(const DuckdbApi& api, duckdb::Value value) const {
    api.vector_reference_value(vector, value);
    api.destroy_value(&value);
  }
};

}  // namespace gpufl::sql
