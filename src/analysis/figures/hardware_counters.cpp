// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/hardware_counters.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/code/kernel_name.hpp"
#include "analysis/math/saturating.hpp"
#include "analysis/math/scaled_value.hpp"
#include "analysis/session/selection.hpp"
#include "format/columns.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::analysis {
namespace {

const format::Batch* rows_of(const Tables& tables, format::Kind kind) {
  const auto found = tables.others.find(kind);
  return found == tables.others.end() ? nullptr : &found->second;
}

// Of a kernel the short name; other names are the program's own.
std::string label_of(const std::string& name, const std::string& demangled) {
  return demangled == name ? name : short_kernel_name(demangled);
}

}  // namespace

std::optional<double> CountedRange::mean(std::string_view metric) const {
  const auto found = std::lower_bound(
      counters.begin(), counters.end(), metric,
      [](const RangeCounter& counter, std::string_view wanted) { return counter.metric < wanted; });
  if (found == counters.end() || found->metric != metric) return std::nullopt;
  return found->values.mean();
}

std::vector<CountedRange> counted_ranges(const SessionData& session,
                                         const AnalysisOptions& options) {
  namespace column = format::range_metric_column;
  const Tables& tables = session.tables;
  const format::Batch* const rows = rows_of(tables, format::Kind::RangeMetric);
  if (rows == nullptr) return {};
  const Selection selection(tables, options);
  // Times of rows of another pass are not those of the window.
  const bool is_of_other_pass =
      session.passes && session.passes->ranges && *session.passes->ranges != session.passes->times;
  struct Gathering {
    int64_t first_ns = 0;
    std::map<std::string_view, Distribution> counters;
  };
  std::map<std::pair<int64_t, int64_t>, Gathering> ranges;  // by device and name
  for (size_t row = 0; row < rows->rows(); ++row) {
    const int64_t device = rows->at(column::kDevice, row, -1);
    const int64_t start_ns = rows->at(column::kStart, row);
    if (!is_of_other_pass && !selection.has_window(start_ns)) continue;
    if (!selection.has_device(device)) continue;
    const auto [place, is_new] = ranges.try_emplace({device, rows->at(column::kRange, row)});
    Gathering& range = place->second;
    range.first_ns = is_new ? start_ns : std::min(range.first_ns, start_ns);
    const auto metric = static_cast<uint32_t>(rows->at(column::kMetric, row));
    range.counters[tables.metric(metric)].add(
        scaled_value(rows->at(column::kValue, row), rows->at(column::kExponent, row, 0)));
  }
  std::vector<std::pair<int64_t, CountedRange>> found;
  for (const auto& [key, range] : ranges) {
    CountedRange counted;
    const std::string& name = tables.name(static_cast<uint32_t>(key.second));
    counted.device = key.first;
    counted.name = symbols::demangle(name);
    counted.label = label_of(name, counted.name);
    for (const auto& [metric, values] : range.counters) {
      counted.counters.push_back({std::string(metric), values});
    }
    found.emplace_back(range.first_ns, std::move(counted));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<CountedRange> counted;
  counted.reserve(found.size());
  for (auto& [first_ns, range] : found) counted.push_back(std::move(range));
  return counted;
}

std::vector<SampledCounter> sampled_counters(const SessionData& session,
                                             const AnalysisOptions& options) {
  namespace column = format::pm_sample_column;
  const Tables& tables = session.tables;
  const format::Batch* const rows = rows_of(tables, format::Kind::PmSample);
  if (rows == nullptr) return {};
  const Selection selection(tables, options);
  const Interval window = selection.window();
  const Interval span{std::max<int64_t>(window.start, 0),
                      std::min(window.end, session.summary.duration_ns)};
  struct Gathering {
    Gathering(Interval of, size_t points) : series(of, points) {}
    SampledCounter figures;
    SeriesBuilder series;
  };
  std::map<std::pair<int64_t, std::string_view>, Gathering> groups;
  for (size_t row = 0; row < rows->rows(); ++row) {
    const int64_t device = rows->at(column::kDevice, row);
    const int64_t start_ns = rows->at(column::kStart, row);
    if (!selection.has_window(start_ns) || !selection.has_device(device)) continue;
    const std::string& metric =
        tables.metric(static_cast<uint32_t>(rows->at(column::kMetric, row)));
    Gathering& group =
        groups.try_emplace({device, metric}, span, options.series_points).first->second;
    const double value =
        scaled_value(rows->at(column::kValue, row), rows->at(column::kExponent, row, 0));
    const int64_t length_ns = std::max<int64_t>(rows->at(column::kDuration, row), 0);
    group.figures.values.add(value);
    group.figures.sampled_ns = saturating_add(group.figures.sampled_ns, length_ns);
    group.series.hold(start_ns, saturating_add(start_ns, length_ns), value);
  }
  std::vector<SampledCounter> counters;
  for (auto& [key, group] : groups) {
    SampledCounter& counter = counters.emplace_back(std::move(group.figures));
    std::tie(counter.device, counter.metric) = key;
    counter.series = group.series.finish();
  }
  return counters;
}

}  // namespace gpufl::analysis
