// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/math/scaled_value.hpp"
#include "format/batch.hpp"
#include "index/bytes.hpp"

// Readings over time, of GPUs, their hardware counters, the host and counters of the program: at
// most some hundred buckets for each series of a window. One thread; constant once it is part of an
// index.
namespace gpufl::index {

struct SeriesKey {
  format::Kind kind = format::Kind::DeviceMetric;  // or PmSample, HostMetric, Counter
  int64_t device = -1, index = 0;                  // -1: of the host, or a counter
  uint32_t metric = 0;                             // of counters an id of names

  auto operator<=>(const SeriesKey&) const = default;
};
bool is_series(format::Kind kind);

struct ValueBucket {
  int64_t at = 0;  // its number: time >> shift
  uint64_t count = 0;
  double min = 0, max = 0, last = 0;  // whole numbers are exact up to 2^53
  double sum = 0;

  void merge(const ValueBucket& later);
};

struct Series {
  unsigned shift = 20;  // a millisecond
  std::vector<ValueBucket> buckets;

  void add(int64_t time, double value);
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

// Where a kind has what readings are made of; kNoColumn: it has no such thing.
struct ReadingColumns {
  size_t time = format::kNoColumn, metric = format::kNoColumn, value = format::kNoColumn;
  size_t device = format::kNoColumn, index = format::kNoColumn, exponent = format::kNoColumn;
};
constexpr ReadingColumns reading_columns(format::Kind kind) {
  namespace device = format::device_metric_column;
  namespace hardware = format::pm_sample_column;
  namespace host = format::host_metric_column;
  namespace counter = format::counter_column;
  constexpr size_t kNone = format::kNoColumn;
  switch (kind) {
    case format::Kind::DeviceMetric:
      return {device::kTime,   device::kMetric, device::kValue,
              device::kDevice, device::kIndex,  kNone};
    case format::Kind::PmSample:
      return {hardware::kStart,   hardware::kMetric, hardware::kValue, hardware::kDevice, kNone,
              hardware::kExponent};
    case format::Kind::HostMetric:
      return {host::kTime, host::kMetric, host::kValue, kNone, host::kIndex, kNone};
    default: return {counter::kTime, counter::kName, counter::kValue, kNone, kNone, kNone};
  }
}
// A larger one is damage; sums of such readings would fit no number.
inline constexpr double kMaxReading = 1e100;

// The readings of a batch: visit(key, time, value).
template <typename Visit>
void visit_readings(const format::Batch& batch, Visit visit) {
  const ReadingColumns columns = reading_columns(batch.kind());
  for (size_t row = 0; row < batch.rows(); ++row) {
    const auto at = [&](size_t column, int64_t fallback) {
      return column == format::kNoColumn ? fallback : batch.at(column, row, fallback);
    };
    SeriesKey key{batch.kind()};
    key.metric = static_cast<uint32_t>(at(columns.metric, 0));
    key.device = at(columns.device, -1);
    key.index = at(columns.index, 0);
    const double value = analysis::scaled_value(at(columns.value, 0), at(columns.exponent, 0));
    if (std::abs(value) <= kMaxReading) visit(key, at(columns.time, 0), value);
  }
}

}  // namespace gpufl::index
