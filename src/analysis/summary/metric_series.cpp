// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary/metric_series.hpp"

#include <algorithm>

#include "format/former_names.hpp"

namespace gpufl::analysis {

namespace {

constexpr size_t kBitCount = 64;

}  // namespace

bool is_cumulative(std::string_view metric) {
  return metric.ends_with("_count") || metric == "energy_mj" ||
         (format::name_for_all(format::kFormerMetrics, metric).starts_with("link_") &&
          metric.ends_with("_bytes"));
}

void MetricSeries::add(int64_t time_ns, int64_t value) {
  const bool is_first = values.count == 0;
  if (is_first && metric.ends_with("_bits")) bit_samples.resize(kBitCount);
  // By time: sealing may put batches of several devices in another order.
  if (is_first || time_ns < first_ns) {
    first = value;
    first_ns = time_ns;
  }
  if (is_first || time_ns >= last_ns) {
    last = value;
    last_ns = time_ns;
  }
  values.add(static_cast<double>(value));
  for (size_t bit = 0; bit < bit_samples.size(); ++bit) {
    bit_samples[bit] += static_cast<uint64_t>(value) >> bit & 1;
  }
}

void MetricTable::add(const Key& key, int64_t time_ns, int64_t value) {
  const auto [entry, is_new] = series_.try_emplace(key);
  MetricSeries& series = entry->second;
  if (is_new) {
    std::tie(series.device, std::ignore, series.index) = key;
    series.metric = names_.text(std::get<uint32_t>(key));
  }
  series.add(time_ns, value);
}

void MetricTable::add_device(const format::Batch& rows, const format::Dictionaries& dictionaries) {
  namespace column = format::device_metric_column;
  names_.resolve(rows, column::kMetric, dictionaries, row_metrics_);
  for (size_t row = 0; row < rows.rows(); ++row) {
    add({rows.at(column::kDevice, row), row_metrics_[row], rows.at(column::kIndex, row)},
        rows.at(column::kTime, row), rows.at(column::kValue, row));
  }
}

void MetricTable::add_host(const format::Batch& rows, const format::Dictionaries& dictionaries) {
  namespace column = format::host_metric_column;
  names_.resolve(rows, column::kMetric, dictionaries, row_metrics_);
  for (size_t row = 0; row < rows.rows(); ++row) {
    add({std::nullopt, row_metrics_[row], rows.at(column::kIndex, row)},
        rows.at(column::kTime, row), rows.at(column::kValue, row));
  }
}

std::vector<MetricSeries> MetricTable::finish() const {
  std::vector<MetricSeries> out;
  out.reserve(series_.size());
  for (const auto& [key, series] : series_) out.push_back(series);
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return std::tie(a.device, a.metric, a.index) < std::tie(b.device, b.metric, b.index);
  });
  return out;
}

}  // namespace gpufl::analysis
