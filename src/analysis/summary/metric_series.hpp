// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/math/distribution.hpp"
#include "analysis/summary/name_table.hpp"
#include "format/batch.hpp"
#include "format/session_reader.hpp"

// System metrics of GPUs and host: one set of figures for every (device, metric, index). Memory
// grows with series, not with samples. One thread.
namespace gpufl::analysis {

struct MetricSeries {
  std::optional<int64_t> device;  // none: host
  std::string metric;
  int64_t index = 0;  // link, fan, core; 0 where there is one only
  Distribution values;
  int64_t first = 0, last = 0;        // the values with the earliest and the latest time
  int64_t first_ns = 0, last_ns = 0;  // session times of those
  std::vector<uint64_t> bit_samples;  // "..._bits" metrics: samples with each bit set; else empty

  // One more sample; samples come in any order. `metric` is set before the first.
  void add(int64_t time_ns, int64_t value);
};

// Whether a metric only ever grows, so that what it grew by is what a session says of it: the
// counters of docs/reference/metrics.md.
bool is_cumulative(std::string_view metric);

class MetricTable {
 public:
  explicit MetricTable(NameTable& names) : names_(names) {}
  void add_device(const format::Batch& rows, const format::Dictionaries& dictionaries);
  void add_host(const format::Batch& rows, const format::Dictionaries& dictionaries);
  std::vector<MetricSeries> finish() const;  // host first, then by device; each by metric and index

 private:
  using Key = std::tuple<std::optional<int64_t>, uint32_t, int64_t>;  // device, metric, index

  void add(const Key& key, int64_t time_ns, int64_t value);

  NameTable& names_;
  std::map<Key, MetricSeries> series_;
  std::vector<uint32_t> row_metrics_;  // scratch
};

}  // namespace gpufl::analysis
