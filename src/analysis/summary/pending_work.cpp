// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/pending_work.hpp"

#include <algorithm>
#include <utility>

#include "symbols/demangle.hpp"

namespace gpufl::analysis {
namespace {

namespace column = format::pending_column;

// The column of that kind, or kNoColumn.
size_t correlation_of(const format::KindSpec& kind) {
  const auto found =
      std::find_if(kind.columns.begin(), kind.columns.end(),
                   [](const format::ColumnSpec& one) { return one.name == "correlation"; });
  return found != kind.columns.end() ? static_cast<size_t>(found - kind.columns.begin())
                                     : format::kNoColumn;
}

// Whether a row of that kind says that the work is over. That a launch has returned does not.
bool ends(format::Kind kind, const PendingWork& work) {
  return kind != format::Kind::Api || work.kernel.empty();
}

}  // namespace

void PendingTable::add(const format::Batch& batch, const format::Dictionaries& dictionaries) {
  if (batch.kind() == format::Kind::Pending) {
    add_pending(batch, dictionaries);
    return;
  }
  const size_t correlation = correlation_of(batch.kind_spec());
  if (correlation == format::kNoColumn || !batch.has(correlation)) return;
  const std::vector<int64_t>& ids = batch.column(correlation);
  if (!pending_.empty()) {
    for (const int64_t id : ids) {
      const auto found = pending_.find(id);
      if (found != pending_.end() && ends(batch.kind(), found->second)) pending_.erase(found);
    }
  }
  Rows& latest = latest_[static_cast<size_t>(batch.kind())];
  latest.ids = ids;
  latest.times_ns.clear();
  if (const size_t time = first_time(batch.kind_spec()); batch.has(time)) {
    latest.times_ns = batch.column(time);
  }
}

void PendingTable::add_pending(const format::Batch& batch,
                               const format::Dictionaries& dictionaries) {
  names_.resolve(batch, column::kFunction, dictionaries, row_names_);
  const auto kernel_of = [&](size_t row) {
    const int64_t id = batch.at(column::kKernel, row);
    return id == 0 ? std::string() : symbols::demangle(dictionaries.get(format::Dict::Name, id));
  };
  for (size_t row = 0; row < batch.rows() && pending_.size() < kMaxPending; ++row) {
    const int64_t id = batch.at(column::kCorrelation, row);
    PendingWork& work = pending_[id];
    std::string kernel = kernel_of(row);
    if (kernel.empty()) kernel = std::move(work.kernel);  // known once
    work = {names_.text(row_names_[row]),
            batch.at(column::kTime, row),
            batch.at(column::kThread, row),
            batch.at(column::kDevice, row, -1),
            id,
            batch.at(column::kScope, row),
            std::move(kernel)};
  }
  for (size_t kind = 0; kind < latest_.size(); ++kind) {
    const Rows& rows = latest_[kind];
    for (size_t row = 0; row < rows.times_ns.size(); ++row) {
      const auto found = pending_.find(rows.ids[row]);
      // A row from before the call is that of another one with its id.
      if (found != pending_.end() && rows.times_ns[row] >= found->second.time_ns &&
          ends(static_cast<format::Kind>(kind), found->second)) {
        pending_.erase(found);
      }
    }
  }
}

std::vector<PendingWork> PendingTable::finish() const {
  std::vector<PendingWork> out;
  for (const auto& [id, work] : pending_) out.push_back(work);
  std::sort(out.begin(), out.end(), [](const PendingWork& a, const PendingWork& b) {
    return std::pair(a.time_ns, a.correlation) < std::pair(b.time_ns, b.correlation);
  });
  return out;
}

}  // namespace gpufl::analysis
