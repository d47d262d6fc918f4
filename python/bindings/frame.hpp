// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export/cell.hpp"

// A table of a session as the columns of a DataFrame, without anything of Python, so that it is
// made while other Python threads run. What the session holds in the same form is not copied: such
// columns, and the functions that read others, refer to the session until finish() and after.
namespace gpufl::python {

using exporting::ColumnHead;
using exporting::kUnknownCell;

enum class Dtype : uint8_t { Int64, UInt64, Float64, Code8, Code16, Code32 };

struct FrameArray {
  const void* data = nullptr;
  std::shared_ptr<const void> memory;  // null: the session's own, or what the frame keeps
};

struct FrameColumn {
  std::string name;
  Dtype dtype = Dtype::Int64;
  FrameArray values;
  FrameArray missing;  // a byte for each row, 1: unknown; no data: the column has none by nature
  std::vector<std::string> categories;  // of codes, sorted; -1 is unknown
};

struct Frame {
  size_t rows = 0;
  std::vector<FrameColumn> columns;
  std::vector<std::shared_ptr<const void>> kept;  // what columns without memory may show
};

class FrameBuilder {
 public:
  explicit FrameBuilder(size_t rows) : rows_(rows) {}
  FrameBuilder(const FrameBuilder&) = delete;
  FrameBuilder& operator=(const FrameBuilder&) = delete;

  // --- A Table of export/session_tables.hpp
  static constexpr bool kIsResolved = true;
  template <typename Column>
  void number(ColumnHead head, const Column& values) {
    if constexpr (std::is_same_v<Column, std::vector<int64_t>>) {
      view(std::move(head.name), values);
    } else {
      add(std::move(head.name), Dtype::Int64, [this, &values](FrameColumn& column) {
        fill<int64_t>(column.values, [&](size_t row) { return static_cast<int64_t>(values[row]); });
      });
    }
  }
  template <typename Column>
  void number(ColumnHead head, const Column& values, int64_t unknown) {
    if (values.empty()) return absent(std::move(head.name), Dtype::Int64);
    if constexpr (std::is_same_v<Column, std::vector<int64_t>>) {
      view(std::move(head.name), values, unknown);
    } else {
      computed(std::move(head), [&values, unknown](size_t row) {
        const auto value = static_cast<int64_t>(values[row]);
        return value == unknown ? kUnknownCell : value;
      });
    }
  }
  template <typename Read>
  void computed(ColumnHead head, Read read) {
    add(std::move(head.name), Dtype::Int64, [this, read](FrameColumn& column) {
      read_maybe<int64_t>(column, [&](size_t row) {
        const int64_t value = read(row);
        return std::pair(value, value == kUnknownCell);
      });
    });
  }
  void looked_up(ColumnHead head, const std::vector<uint32_t>& index, std::vector<int64_t> values);
  template <typename Column>
  void ids(ColumnHead head, const Column& values, bool zero_is_unknown) {
    if (values.empty()) return absent(std::move(head.name), Dtype::UInt64);
    add(std::move(head.name), Dtype::UInt64, [this, &values, zero_is_unknown](FrameColumn& column) {
      read_maybe<uint64_t>(column, [&](size_t row) {
        const auto value = static_cast<uint64_t>(values[row]);
        return std::pair(value, zero_is_unknown && value == 0);
      });
    });
  }
  template <typename Read>
  void reals(ColumnHead head, Read read) {
    add(std::move(head.name), Dtype::Float64, [this, read](FrameColumn& column) {
      fill<double>(column.values, [&](size_t row) { return read(row); });
    });
  }
  template <typename Column, typename Text>
  void texts(ColumnHead head, const Column& keys, Text text) {
    if (keys.empty()) return absent(std::move(head.name), Dtype::Code8);
    texts_by(
        std::move(head), [&keys](size_t row) { return static_cast<uint64_t>(keys[row]); }, text);
  }
  // The text is asked for once for each key.
  template <typename Key, typename Text>
  void texts_by(ColumnHead head, Key key, Text text) {
    add(std::move(head.name), Dtype::Code8, [this, key, text](FrameColumn& column) {
      make_codes(column, key, [&](uint64_t k) { return std::string(text(k)); });
    });
  }
  bool wants(std::string_view /*name*/) const { return true; }
  void keep(std::shared_ptr<const void> memory) { kept_.push_back(std::move(memory)); }

  // Fills the columns, as many at a time as the machine has processors. Call once.
  Frame finish();

 private:
  using Make = std::function<void(FrameColumn&)>;
  // Codes by key: an array where keys are about as many as rows, as the log's own ids are.
  class CodeTable {
   public:
    explicit CodeTable(uint64_t bound) : dense_(bound, kNew) {}
    int32_t& operator[](uint64_t key) {
      return key < dense_.size() ? dense_[key] : sparse_.try_emplace(key, kNew).first->second;
    }
    static constexpr int32_t kNew = -2;

   private:
    std::vector<int32_t> dense_;
    std::unordered_map<uint64_t, int32_t> sparse_;
  };

  void add(std::string name, Dtype dtype, Make make);
  // Numbers as the session holds them.
  void view(std::string name, const std::vector<int64_t>& values);
  void view(std::string name, const std::vector<int64_t>& values, int64_t unknown);
  // A column that no row of the log has.
  void absent(std::string name, Dtype dtype);
  static std::shared_ptr<void> allocate(size_t bytes);
  FrameArray zeros();  // of rows * 8 bytes; shared by all columns, takes no memory until written
  FrameArray ones();   // of rows bytes

  template <typename T, typename Read>
  void fill(FrameArray& array, Read read) const {
    array.memory = allocate(rows_ * sizeof(T));
    T* const out = static_cast<T*>(const_cast<void*>(array.memory.get()));
    array.data = out;
    for (size_t row = 0; row < rows_; ++row) out[row] = read(row);
  }
  // read(row) -> (value, is it unknown). Values that are unknown become 0.
  template <typename T, typename Read>
  void read_maybe(FrameColumn& column, Read read) const {
    bool is_any_missing = false;
    fill<T>(column.values, [&](size_t row) {
      const auto [value, is_missing] = read(row);
      is_any_missing |= is_missing;
      return is_missing ? T{0} : value;
    });
    if (is_any_missing) {
      fill<uint8_t>(column.missing, [&](size_t row) { return read(row).second ? 1 : 0; });
    } else {
      column.missing = zeros_;
    }
  }
  template <typename Key, typename Text>
  void make_codes(FrameColumn& column, Key key, Text text) const {
    CodeTable codes(dense_bound());
    std::vector<uint64_t> keys;  // by first appearance
    for (size_t row = 0; row < rows_; ++row) {
      int32_t& code = codes[key(row)];
      if (code != CodeTable::kNew) continue;
      code = 0;
      keys.push_back(key(row));
    }
    std::vector<std::string> labels;
    labels.reserve(keys.size());
    for (const uint64_t k : keys) labels.push_back(text(k));
    column.categories = sorted_categories(labels);
    for (size_t i = 0; i < keys.size(); ++i) {
      codes[keys[i]] = code_of(column.categories, labels[i]);
    }
    const auto read = [&](size_t row) { return codes[key(row)]; };
    const size_t count = column.categories.size();
    if (count <= std::numeric_limits<int8_t>::max()) {
      column.dtype = Dtype::Code8;
      fill<int8_t>(column.values, [&](size_t row) { return static_cast<int8_t>(read(row)); });
    } else if (count <= std::numeric_limits<int16_t>::max()) {
      column.dtype = Dtype::Code16;
      fill<int16_t>(column.values, [&](size_t row) { return static_cast<int16_t>(read(row)); });
    } else {
      column.dtype = Dtype::Code32;
      fill<int32_t>(column.values, read);
    }
  }
  uint64_t dense_bound() const { return std::min<uint64_t>(rows_ * 4 + 4096, uint64_t{1} << 20); }
  static std::vector<std::string> sorted_categories(const std::vector<std::string>& labels);
  static int32_t code_of(const std::vector<std::string>& categories, const std::string& label);

  size_t rows_;
  Frame frame_;
  std::vector<Make> makes_;  // by column
  FrameArray zeros_, ones_;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace gpufl::python
