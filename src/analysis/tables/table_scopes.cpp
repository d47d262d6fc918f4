// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/table_scopes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/math/saturating.hpp"
#include "analysis/tables/table_append.hpp"
#include "analysis/tables/table_columns.hpp"
#include "analysis/tables/table_order.hpp"
#include "format/kind_columns.hpp"

namespace gpufl::analysis {

namespace {

// An ending of -1 is stored as Scopes::kOpen.
constexpr int64_t kOpenEnding = -1;
static_assert(narrowed<uint8_t>(kOpenEnding) == Scopes::kOpen);

// Where the columns of open scopes are among those of ended ones.
constexpr auto kColumnsOfOpen = [] {
  std::array<size_t, format::scope_open_column::kCount> columns{};
  const auto& of_ended = format::kColumnsOf<format::Kind::Scope>;
  for (size_t i = 0; i < columns.size(); ++i) {
    while (of_ended[columns[i]].name != format::kColumnsOf<format::Kind::ScopeOpen>[i].name) {
      ++columns[i];
    }
  }
  return columns;
}();

}  // namespace

void TableScopes::add_ended(const format::Batch& rows) {
  namespace column = format::scope_column;
  const TableAppend append(rows, scopes_.rows());
  each_described_column(scopes_,
                        [&](auto& values, size_t i) { append.always_described(values, i); });
  append.always_described(parent_ids_, column::kParent);
  append.always(scopes_.duration, column::kDuration);
  append.always(scopes_.start, column::kStart, kNoTime);
}

void TableScopes::add_open(const format::Batch& rows) {
  for (size_t row = 0; row < rows.rows(); ++row) {
    const auto [open, is_new] = open_.try_emplace(rows.at(format::scope_open_column::kId, row));
    if (!is_new) continue;
    for (size_t i = 0; i < open->second.size(); ++i) {
      open->second[i] = rows.at(i, row, rows.kind_spec().columns[i].absent);
    }
  }
}

void TableScopes::add_still_open(int64_t end_ns) {
  namespace column = format::scope_column;
  for (const int64_t id : scopes_.id) open_.erase(id);
  format::Batch rows(format::Kind::Scope);
  for (const auto& [id, open] : open_) {
    for (size_t i = 0; i < open.size(); ++i) {
      rows.mutable_column(kColumnsOfOpen[i]).push_back(open[i]);
    }
    const int64_t start = open[format::scope_open_column::kStart];
    rows.mutable_column(column::kDuration)
        .push_back(std::max<int64_t>(saturating_subtract(end_ns, start), 0));
    rows.mutable_column(column::kEnding).push_back(kOpenEnding);
  }
  rows.set_rows(open_.size());
  add_ended(rows);
  open_.clear();
}

// By start, then by id: ids are given when scopes begin, so a parent comes before its children even
// where the clock did not move between them.
void TableScopes::sort() {
  std::vector<uint32_t> order = order_by_start(scopes_.start);
  if (order.empty()) {
    order.resize(scopes_.rows());
    std::iota(order.begin(), order.end(), 0);
  }
  const auto starts_before = [&](uint32_t a, uint32_t b) {
    return scopes_.start[a] < scopes_.start[b];
  };
  const auto has_smaller_id = [&](uint32_t a, uint32_t b) { return scopes_.id[a] < scopes_.id[b]; };
  for (auto first = order.begin(); first != order.end();) {
    auto last = first + 1;
    while (last != order.end() && !starts_before(*first, *last)) ++last;
    if (last - first > 1) std::sort(first, last, has_smaller_id);
    first = last;
  }
  each_column(scopes_, [&](auto& column) { reorder(column, order); });
  reorder(parent_ids_, order);
}

Scopes TableScopes::finish(int64_t end_ns) {
  add_still_open(end_ns);
  sort();
  rows_.reserve(scopes_.rows());
  scopes_.parent.resize(scopes_.rows(), kNoRow);
  for (size_t row = 0; row < scopes_.rows(); ++row) {
    // One that is not told yet is no parent: so rows cannot be each other's.
    scopes_.parent[row] = row_of(parent_ids_[row]);
    rows_.try_emplace(scopes_.id[row], static_cast<uint32_t>(row));
  }
  parent_ids_ = {};
  return std::move(scopes_);
}

uint32_t TableScopes::row_of(int64_t id) const {
  constexpr int64_t kNoScope = 0;
  const auto found = id != kNoScope ? rows_.find(id) : rows_.end();
  return found != rows_.end() ? found->second : kNoRow;
}

}  // namespace gpufl::analysis
