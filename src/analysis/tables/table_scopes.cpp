// SPDX-License-Identifier: Apache-2.0
#include "analysis/tables/table_scopes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "analysis/math/saturating.hpp"
#include "analysis/tables/table_append.hpp"
#include "analysis/tables/table_columns.hpp"
#include "analysis/tables/table_order.hpp"

namespace gpufl::analysis {

void TableScopes::add_ended(const format::Batch& rows) {
  namespace column = format::scope_column;
  const TableAppend append(rows, scopes_.rows());
  append.always(scopes_.start, column::kStart, kNoTime);
  append.always(scopes_.duration, column::kDuration, 0);
  append.always(parent_ids_, column::kParent, 0);
  append.always(scopes_.name, column::kName, 0);
  append.always(scopes_.tag, column::kTag, 0);
  append.always(scopes_.thread, column::kThread, 0);
  append.always(scopes_.repeat, column::kRepeat, 0);
  append.always(scopes_.warmup, column::kWarmup, 0);
  append.always(scopes_.ending, column::kEnding, 0);
  append.always(scopes_.id, column::kId, 0);
}

void TableScopes::add_open(const format::Batch& rows) {
  namespace column = format::scope_open_column;
  for (size_t row = 0; row < rows.rows(); ++row) {
    const auto at = [&](size_t i) { return rows.at(i, row); };
    open_.try_emplace(
        at(column::kId),
        Open{at(column::kParent), at(column::kThread), at(column::kStart), at(column::kRepeat),
             at(column::kWarmup), narrowed<uint32_t>(at(column::kName)),
             narrowed<uint32_t>(at(column::kTag))});
  }
}

void TableScopes::add_still_open(int64_t end_ns) {
  for (const int64_t id : scopes_.id) open_.erase(id);
  for (const auto& [id, open] : open_) {
    scopes_.start.push_back(open.start);
    scopes_.duration.push_back(std::max<int64_t>(saturating_subtract(end_ns, open.start), 0));
    parent_ids_.push_back(open.parent);
    scopes_.name.push_back(open.name);
    scopes_.tag.push_back(open.tag);
    scopes_.thread.push_back(open.thread);
    scopes_.repeat.push_back(narrowed<uint32_t>(open.repeat));
    scopes_.warmup.push_back(narrowed<uint32_t>(open.warmup));
    scopes_.ending.push_back(Scopes::kOpen);
    scopes_.id.push_back(id);
  }
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
