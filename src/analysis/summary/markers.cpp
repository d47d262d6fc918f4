// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/markers.hpp"

#include <algorithm>
#include <tuple>

#include "analysis/math/saturating.hpp"

namespace gpufl::analysis {

void MarkerTable::add(const format::Batch& rows, const format::Dictionaries& dictionaries) {
  namespace column = format::marker_column;
  // A range is announced when it has been open for a second, not sooner.
  constexpr int64_t kAnnounced_ns = 1'000'000'000;
  names_.resolve(rows, column::kName, dictionaries, row_names_);
  names_.resolve(rows, column::kDomain, dictionaries, row_domains_);
  for (size_t row = 0; row < rows.rows(); ++row) {
    MarkerTotal& total = totals_[{row_names_[row], row_domains_[row]}];
    if (rows.at(column::kShape, row) == static_cast<int64_t>(format::MarkerShape::Mark)) {
      ++total.marks;
      continue;
    }
    const int64_t duration_ns = rows.at(column::kDuration, row);
    total.duration_ns.add(static_cast<double>(duration_ns));
    if (duration_ns >= kAnnounced_ns) {
      long_ranges_.emplace_back(rows.at(column::kStart, row), rows.at(column::kThread, row));
    }
  }
}

bool MarkerTable::take_event(const base::Json& line) {
  const std::string& name = line["name"].as_string();
  if (name == "marker_open") {
    announced_[{line["start"].as_integer(), line["thread"].as_integer()}] = {
        names_.id(line["text"].as_string()), names_.id(line["domain"].as_string())};
    return true;
  }
  return name == "marker_category" || name == "thread_name";
}

std::vector<MarkerTotal> MarkerTable::finish(int64_t end_ns) const {
  std::map<Key, MarkerTotal> totals = totals_;
  std::vector<Place> ended;
  if (!announced_.empty()) ended = long_ranges_;
  std::sort(ended.begin(), ended.end());
  for (const auto& [place, key] : announced_) {
    if (std::binary_search(ended.begin(), ended.end(), place)) continue;
    MarkerTotal& total = totals[key];
    ++total.open;
    total.open_ns +=
        static_cast<double>(std::max<int64_t>(0, saturating_subtract(end_ns, place.first)));
  }
  std::vector<MarkerTotal> out;
  out.reserve(totals.size());
  for (auto& [key, total] : totals) {
    total.name = names_.text(key.first);
    total.domain = names_.text(key.second);
    out.push_back(std::move(total));
  }
  std::sort(out.begin(), out.end(), [](const MarkerTotal& a, const MarkerTotal& b) {
    return std::tuple(-a.total_ns(), b.count(), a.name, a.domain) <
           std::tuple(-b.total_ns(), a.count(), b.name, b.domain);
  });
  return out;
}

}  // namespace gpufl::analysis
