// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/tables/table_append.hpp"
#include "analysis/tables/table_columns.hpp"
#include "export/cell.hpp"
#include "format/batch.hpp"
#include "timeline/session_texts.hpp"

// Columns of tables that follow from format/kinds.def: how a `Table` of session_tables.hpp gets
// them, from typed columns and from those of a batch alike.
namespace gpufl::exporting {

namespace described {

using format::ColumnSpec;
using format::Shown;
using timeline::SessionTexts;

inline CellType cell_type(const ColumnSpec& spec) {
  if (!spec.words.empty()) return CellType::Text;
  switch (spec.type) {
    case format::ColumnType::Time: return CellType::Time;
    case format::ColumnType::Duration: return CellType::Duration;
    case format::ColumnType::Integer: return CellType::Integer;
    case format::ColumnType::DictId: return CellType::Text;
    case format::ColumnType::Id64: return CellType::Id;
  }
  return CellType::Integer;
}

inline ColumnHead head_of(const ColumnSpec& spec) {
  return {std::string(spec.title), cell_type(spec), spec.unit, spec.meaning, spec.words};
}

// The word; of a number without one its digits; empty: unknown.
template <typename Column>
std::string word_text(const ColumnSpec& spec, int64_t number) {
  const std::string_view word = format::word_of(spec.words, number);
  if (!word.empty()) return std::string(word);
  if constexpr (std::is_same_v<Column, std::vector<uint8_t>>) {
    if (number >= analysis::kTooLarge<uint8_t>) return {};
  }
  return spec.is_lacking(number) ? std::string() : std::to_string(number);
}

// What stands in a column of this type for what a row lacks.
template <typename T>
int64_t absent_in(const std::vector<T>&, int64_t absent) {
  return static_cast<int64_t>(analysis::narrowed<T>(absent));
}
inline int64_t absent_in(const analysis::NarrowColumn&, int64_t absent) { return absent; }

template <typename Table, typename Column>
void add_entries(Table& table, const SessionTexts& texts, const Column& column,
                 const ColumnSpec& spec) {
  if (spec.dict == format::Dict::Name && spec.shown != Shown::CodeName) {
    table.texts(head_of(spec), column, [&texts](uint64_t id) -> const std::string& {
      return texts.name(static_cast<uint32_t>(id));
    });
  } else {
    table.texts(head_of(spec), column, [&texts, dict = spec.dict](uint64_t id) {
      return texts.dictionary_text(dict, static_cast<uint32_t>(id));
    });
  }
}

// A column in which all rows are the same.
struct Always {
  int64_t value;
  int64_t operator[](size_t) const { return value; }
};

template <typename Table, typename Column>
void add_numbers(Table& table, const Column& column, const ColumnSpec& spec) {
  if (spec.may_lack()) {
    table.number(head_of(spec), column, absent_in(column, spec.absent));
  } else if (!column.empty() || spec.required) {
    table.number(head_of(spec), column);
  } else {
    const auto always = std::make_shared<const Always>(Always{spec.absent});
    table.keep(always);
    table.number(head_of(spec), *always);
  }
}

template <typename Table, typename Column>
void add_words(Table& table, const Column& column, const ColumnSpec& spec) {
  const auto word = [&spec](uint64_t number) {
    return word_text<Column>(spec, static_cast<int64_t>(number));
  };
  if (column.empty() && spec.absence == format::Absence::Default) {
    table.texts_by(
        head_of(spec), [&spec](size_t) { return static_cast<uint64_t>(spec.absent); }, word);
  } else {
    table.texts(head_of(spec), column, word);
  }
}

// One column, which may be empty; a number as it is.
template <typename Table, typename Column>
void add_column(Table& table, const SessionTexts& texts, const Column& column,
                const ColumnSpec& spec) {
  if (spec.shown == Shown::Nothing) return;
  if (!spec.words.empty()) {
    add_words(table, column, spec);
  } else if (spec.type == format::ColumnType::DictId) {
    add_entries(table, texts, column, spec);
  } else if (spec.type == format::ColumnType::Id64) {
    table.ids(head_of(spec), column, spec.may_lack());
  } else {
    add_numbers(table, column, spec);
  }
}

// Paths of scopes by the id that the log gives them.
template <typename Table>
void add_scope_paths(Table& table, const SessionTexts& texts, const std::vector<int64_t>& column,
                     const ColumnSpec& spec) {
  const auto rows = std::make_shared<std::unordered_map<int64_t, uint32_t>>();
  const std::vector<int64_t>& ids = texts.tables().scopes.id;
  if (!column.empty()) {
    for (uint32_t row = 0; row < ids.size(); ++row) rows->emplace(ids[row], row);
  }
  ColumnHead head = head_of(spec);
  head.type = CellType::Text;
  table.texts(std::move(head), column, [&texts, rows](uint64_t id) -> const std::string& {
    const auto found = rows->find(static_cast<int64_t>(id));
    return texts.path_text(
        texts.scope_path(found == rows->end() ? analysis::kNoRow : found->second));
  });
}

template <typename Table>
void add_scaled(Table& table, const std::vector<int64_t>& values,
                const std::vector<int64_t>& exponents, const ColumnSpec& spec) {
  ColumnHead head = head_of(spec);
  head.type = CellType::Real;
  table.reals(std::move(head), [&values, &exponents](size_t row) {
    const int64_t exponent = exponents.empty() ? 0 : exponents[row];
    return static_cast<double>(values[row]) * std::pow(10.0, static_cast<double>(exponent));
  });
}

}  // namespace described

// The columns numbered `first` to before `last` of a table that holds rows of one kind.
template <typename Table, typename Rows>
void add_described(Table& table, const timeline::SessionTexts& texts, const Rows& rows,
                   size_t first = 0, size_t last = format::kNoColumn) {
  const auto& columns = format::spec(Rows::kKind).columns;
  analysis::each_described_column(rows, [&](const auto& column, size_t i) {
    if (i >= first && i < last) described::add_column(table, texts, column, columns[i]);
  });
}

// The same of rows as the log has them.
template <typename Table>
void add_described(Table& table, const timeline::SessionTexts& texts, const format::Batch& rows,
                   size_t first = 0, size_t last = format::kNoColumn) {
  using format::Shown;
  const auto& columns = rows.kind_spec().columns;
  for (size_t i = first; i < std::min(last, columns.size()); ++i) {
    const Shown shown = columns[i].shown;
    if (Table::kIsResolved && shown == Shown::Exponent) continue;
    if (!table.wants(columns[i].title)) continue;
    if (Table::kIsResolved && shown == Shown::Scaled) {
      described::add_scaled(table, rows.column(i), rows.column(i + 1), columns[i]);
    } else if (Table::kIsResolved && shown == Shown::ScopePath) {
      described::add_scope_paths(table, texts, rows.column(i), columns[i]);
    } else {
      described::add_column(table, texts, rows.column(i), columns[i]);
    }
  }
}

}  // namespace gpufl::exporting
