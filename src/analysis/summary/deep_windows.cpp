// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/deep_windows.hpp"

#include <algorithm>

#include "analysis/math/saturating.hpp"
#include "format/columns.hpp"
#include "format/words.hpp"

namespace gpufl::analysis {
namespace {

namespace column = format::deep_window_column;

std::optional<uint64_t> count_if_known(int64_t value) {
  return value < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(value));
}

}  // namespace

void DeepWindowTable::add(const format::Batch& rows, const format::Dictionaries& dictionaries) {
  std::vector<uint32_t> names, engines, limits, conditions;
  names_.resolve(rows, column::kName, dictionaries, names);
  names_.resolve(rows, column::kEngine, dictionaries, engines);
  names_.resolve(rows, column::kReason, dictionaries, limits);
  names_.resolve(rows, column::kCondition, dictionaries, conditions);
  for (size_t row = 0; row < rows.rows(); ++row) {
    const int64_t duration_ns = std::max<int64_t>(0, rows.at(column::kDuration, row));
    const auto launches = count_if_known(rows.at(column::kLaunches, row, -1));
    ++totals_.count;
    totals_.duration_ns = saturating_add(totals_.duration_ns, duration_ns);
    if (totals_.launches && launches) {
      *totals_.launches += *launches;
    } else {
      totals_.launches.reset();
    }
    if (totals_.windows.size() == DeepWindowTotals::kMaxWindows) continue;
    DeepWindowFact window;
    window.start_ns = rows.at(column::kStart, row);
    window.duration_ns = duration_ns;
    window.name = names_.text(names[row]);
    window.opened_by =
        format::word_of(format::kDeepWindowOpenerWords, rows.at(column::kOpenedBy, row));
    window.closed_by =
        format::word_of(format::kDeepWindowEndWords, rows.at(column::kClosedBy, row));
    window.launches = launches;
    window.engine = names_.text(engines[row]);
    window.limit = names_.text(limits[row]);
    window.condition = names_.text(conditions[row]);
    const int64_t seen = rows.at(column::kSeen, row, -1);
    if (seen >= 0) window.seen = seen;
    window.ignored = static_cast<uint64_t>(std::max<int64_t>(0, rows.at(column::kIgnored, row, 0)));
    totals_.windows.push_back(std::move(window));
  }
}

}  // namespace gpufl::analysis
