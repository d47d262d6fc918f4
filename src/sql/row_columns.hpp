// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export/cell.hpp"
#include "sql/output_vector.hpp"

// The columns of a session's table as functions that write rows into DuckDB's vectors: a Table of
// export/session_tables.hpp that takes those that a query wants. One thread.
namespace gpufl::sql {

// Texts by the ids that a column has for them, each asked for once in a session.
class TextCache {
 public:
  struct Entry {
    duckdb::Text text{};
    bool is_known = false, is_null = false;
  };
  Entry& operator[](uint64_t key) {
    if (key >= kMostDense) return sparse_[key];
    if (key >= dense_.size()) dense_.resize(key + key / 2 + 1);
    return dense_[key];
  }

 private:
  static constexpr uint64_t kMostDense = uint64_t{1} << 20;
  std::vector<Entry> dense_;
  std::unordered_map<uint64_t, Entry> sparse_;
};

class RowColumns {
 public:
  using ColumnHead = exporting::ColumnHead;
  using Write = std::function<void(size_t first, size_t count, const OutputVector& out)>;
  static constexpr bool kIsResolved = true;

  // `names`: of the columns wanted, in the order of the output; `caches`: one for each, kept from
  // one piece of the session to the next.
  RowColumns(std::span<const std::string> names, std::span<TextCache> caches, TextStore& texts)
      : names_(names), caches_(caches), texts_(texts), writes_(names.size()) {}

  bool wants(std::string_view name) const { return index_of(name) != kNone; }
  template <typename Column>
  void number(const ColumnHead& head, const Column& column) {
    add(head, [&column](size_t first, size_t count, const OutputVector& out) {
      auto* const values = out.as<int64_t>();
      for (size_t i = 0; i < count; ++i) values[i] = static_cast<int64_t>(column[first + i]);
    });
  }
  template <typename Column>
  void number(const ColumnHead& head, const Column& column, int64_t unknown) {
    computed(head, [&column, unknown](size_t row) {
      const int64_t value = column.empty() ? unknown : static_cast<int64_t>(column[row]);
      return value == unknown ? exporting::kUnknownCell : value;
    });
  }
  template <typename Read>
  void computed(const ColumnHead& head, Read read) {
    add(head, [read = std::move(read)](size_t first, size_t count, const OutputVector& out) {
      auto* const values = out.as<int64_t>();
      for (size_t i = 0; i < count; ++i) {
        values[i] = read(first + i);
        if (values[i] == exporting::kUnknownCell) out.set_null(i);
      }
    });
  }
  void looked_up(const ColumnHead& head, const std::vector<uint32_t>& index,
                 std::vector<int64_t> values) {
    computed(head, [&index, values = std::move(values)](size_t row) {
      return index.empty() ? exporting::kUnknownCell : values[index[row]];
    });
  }
  template <typename Column>
  void ids(const ColumnHead& head, const Column& column, bool zero_is_unknown) {
    add(head, [&column, zero_is_unknown](size_t first, size_t count, const OutputVector& out) {
      auto* const values = out.as<uint64_t>();
      for (size_t i = 0; i < count; ++i) {
        values[i] = column.empty() ? 0 : static_cast<uint64_t>(column[first + i]);
        if (column.empty() || (zero_is_unknown && values[i] == 0)) out.set_null(i);
      }
    });
  }
  template <typename Read>
  void reals(const ColumnHead& head, Read read) {
    add(head, [read](size_t first, size_t count, const OutputVector& out) {
      auto* const values = out.as<double>();
      for (size_t i = 0; i < count; ++i) {
        values[i] = read(first + i);
        if (!std::isfinite(values[i])) out.set_null(i);
      }
    });
  }
  template <typename Column, typename TextOf>
  void texts(const ColumnHead& head, const Column& column, TextOf text_of) {
    if (column.empty()) {
      add(head, [](size_t, size_t count, const OutputVector& out) {
        for (size_t i = 0; i < count; ++i) out.set_null(i);
      });
      return;
    }
    texts_by(
        head, [&column](size_t row) { return static_cast<uint64_t>(column[row]); },
        std::move(text_of));
  }
  template <typename Key, typename TextOf>
  void texts_by(const ColumnHead& head, Key key, TextOf text_of) {
    const size_t index = index_of(head.name);
    if (index == kNone) return;
    TextCache& cache = caches_[index];
    add(head, [this_texts = &texts_, &cache, key = std::move(key), text_of = std::move(text_of)](
                  size_t first, size_t count, const OutputVector& out) {
      auto* const values = out.as<duckdb::Text>();
      for (size_t i = 0; i < count; ++i) {
        const uint64_t id = key(first + i);
        TextCache::Entry& entry = cache[id];
        if (!entry.is_known) entry = make_entry(text_of(id), *this_texts);
        values[i] = entry.text;
        if (entry.is_null) out.set_null(i);
      }
    });
  }
  void keep(std::shared_ptr<const void> memory) { kept_.push_back(std::move(memory)); }

  // Those that were wanted and are there; a column that is not there has none.
  const std::vector<Write>& writes() const { return writes_; }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  static TextCache::Entry make_entry(std::string_view text, TextStore& store) {
    return {store.add(text), true, text.empty()};
  }
  size_t index_of(std::string_view name) const {
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return i;
    }
    return kNone;
  }
  void add(const ColumnHead& head, Write write) {
    const size_t index = index_of(head.name);
    if (index != kNone) writes_[index] = std::move(write);
  }

  std::span<const std::string> names_;
  std::span<TextCache> caches_;
  TextStore& texts_;
  std::vector<Write> writes_;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace gpufl::sql
