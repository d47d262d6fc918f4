// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backend/backend.hpp"

// For tests: a sink that keeps everything. Rows hold a value for every column of their kind,
// kAbsent where the batch had none. Ids of dictionaries count from 1.
namespace gpufl::backend {

class RecordingSink : public RowSink {
 public:
  static constexpr int64_t kAbsent = INT64_MIN;
  using Row = std::vector<int64_t>;

  int64_t intern(format::Dict dict, std::string_view value) override {
    auto& values = dictionaries[dict];
    const auto [found, is_new] = ids_[dict].try_emplace(std::string(value), values.size() + 1);
    if (is_new) values.emplace_back(value);
    return static_cast<int64_t>(found->second);
  }
  void submit(const format::Batch& batch) override {
    ASSERT_FALSE(batch.empty());
    auto& kept = rows[batch.kind()];
    for (size_t i = 0; i < batch.kind_spec().columns.size(); ++i) {
      ASSERT_TRUE(batch.column(i).empty() || batch.column(i).size() == batch.rows()) << i;
    }
    for (size_t row = 0; row < batch.rows(); ++row) {
      Row values(batch.kind_spec().columns.size());
      for (size_t i = 0; i < values.size(); ++i) values[i] = batch.at(i, row, kAbsent);
      kept.push_back(std::move(values));
    }
    largest_batch = std::max(largest_batch, batch.rows());
  }
  void write(format::Kind kind, const base::Json& line) override { lines[kind].push_back(line); }
  ScopeRef scope_at(int64_t thread, int64_t time_ns) override {
    return scopes ? scopes(thread, time_ns) : ScopeRef{};
  }
  bool is_scope_open(int64_t begin_ns, int64_t end_ns) override {
    return open_scopes && open_scopes(begin_ns, end_ns);
  }
  int64_t stack(uint32_t recorded) override { return recorded; }
  bool keep_code(int64_t /*time_ns*/, const CodeImage& image) override {
    code[image.id] = image.missing.empty() ? std::string(image.bytes) : "";
    return true;
  }

  bool is_last_round() const override { return true; }

  const std::string& value(format::Dict dict, int64_t id) {
    return dictionaries[dict].at(static_cast<size_t>(id - 1));
  }
  std::vector<int64_t> column(format::Kind kind, size_t column) {
    std::vector<int64_t> values;
    for (const Row& row : rows[kind]) values.push_back(row[column]);
    return values;
  }

  std::map<format::Dict, std::vector<std::string>> dictionaries;
  std::map<format::Kind, std::vector<Row>> rows;
  std::map<format::Kind, std::vector<base::Json>> lines;
  std::map<uint64_t, std::string> code;  // images by id; empty: missing
  size_t largest_batch = 0;
  std::function<ScopeRef(int64_t thread, int64_t time_ns)> scopes;    // none: no scope is open
  std::function<bool(int64_t begin_ns, int64_t end_ns)> open_scopes;  // likewise

 private:
  std::map<format::Dict, std::map<std::string, size_t, std::less<>>> ids_;
};

}  // namespace gpufl::backend
