// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/counters.hpp"

#include <algorithm>

namespace gpufl::analysis {

std::optional<double> CounterTotal::per_second() const {
  if (samples < 2 || span_ns <= 0) return std::nullopt;
  return static_cast<double>(increase()) * 1e9 / static_cast<double>(span_ns);
}

void CounterTotal::add(int64_t time_ns, int64_t value) {
  if (samples == 0 || time_ns < first_ns) {
    first = value;
    first_ns = time_ns;
  }
  if (samples == 0 || time_ns >= last_ns) {
    last = value;
    last_ns = time_ns;
  }
  ++samples;
}

void CounterTable::add(const format::Batch& rows, const format::Dictionaries& dictionaries) {
  namespace column = format::counter_column;
  names_.resolve(rows, column::kName, dictionaries, row_names_);
  for (size_t row = 0; row < rows.rows(); ++row) {
    totals_[row_names_[row]].add(rows.at(column::kTime, row), rows.at(column::kValue, row));
  }
}

std::vector<CounterTotal> CounterTable::finish(int64_t end_ns, bool is_cut) const {
  std::vector<CounterTotal> out;
  out.reserve(totals_.size());
  for (const auto& [name, total] : totals_) {
    out.push_back(total);
    out.back().name = names_.text(name);
    out.back().span_ns = saturating_subtract(end_ns, is_cut ? total.first_ns : 0);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

}  // namespace gpufl::analysis
