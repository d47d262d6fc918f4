// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "format/batch.hpp"
#include "index/bytes.hpp"

// Readings over time, of GPUs, the host and counters of the program: at most some hundred buckets
// for each series of a window. One thread; constant once it is part of an index.
namespace gpufl::index {

struct SeriesKey {
  format::Kind kind = format::Kind::DeviceMetric;  // or HostMetric, Counter
  int64_t device = -1, index = 0;                  // -1: of the host, or a counter
  uint32_t metric = 0;                             // of counters an id of names

  auto operator<=>(const SeriesKey&) const = default;
};
bool is_series(format::Kind kind);

struct ValueBucket {
  int64_t at = 0;  // its number: time >> shift
  uint64_t count = 0;
  int64_t min = 0, max = 0, last = 0;
  double sum = 0;

  void merge(const ValueBucket& later);
};

struct Series {
  unsigned shift = 20;  // a millisecond
  std::vector<ValueBucket> buckets;

  void add(int64_t time, int64_t value);
};

class SeriesTable {
 public:
  void add(const format::Batch& batch);
  const std::map<SeriesKey, Series>& all() const { return series_; }
  uint64_t left_out() const { return left_out_; }  // readings of series beyond the bound

  void write(ByteWriter& out) const;
  static SeriesTable read(ByteReader& in);

 private:
  std::map<SeriesKey, Series> series_;
  uint64_t left_out_ = 0;
};

// The readings of a batch: visit(key, time, value).
template <typename Visit>
void visit_readings(const format::Batch& batch, Visit visit) {
  const bool is_counter = batch.kind() == format::Kind::Counter;
  const bool is_device = batch.kind() == format::Kind::DeviceMetric;
  namespace device = format::device_metric_column;
  namespace host = format::host_metric_column;
  namespace counter = format::counter_column;
  for (size_t row = 0; row < batch.rows(); ++row) {
    const auto at = [&](size_t of_counter, size_t of_device, size_t of_host) {
      return batch.at(is_counter ? of_counter : is_device ? of_device : of_host, row);
    };
    SeriesKey key{batch.kind()};
    key.metric = static_cast<uint32_t>(at(counter::kName, device::kMetric, host::kMetric));
    if (is_device) key.device = batch.at(device::kDevice, row);
    if (!is_counter) key.index = at(0, device::kIndex, host::kIndex);
    visit(key, at(counter::kTime, device::kTime, host::kTime),
          at(counter::kValue, device::kValue, host::kValue));
  }
}

}  // namespace gpufl::index
