// SPDX-License-Identifier: Apache-2.0
#include "index/series.hpp"

#include "index/row_events.hpp"

namespace gpufl::index {
namespace {

constexpr size_t kMaxBuckets = 512;    // of a series
constexpr size_t kMaxSeries = 16'384;  // of a window
constexpr unsigned kMaxShift = 60;

}  // namespace

bool is_series(format::Kind kind) {
  return kind == format::Kind::DeviceMetric || kind == format::Kind::PmSample ||
         kind == format::Kind::HostMetric || kind == format::Kind::Counter;
}

void ValueBucket::merge(const ValueBucket& later) {
  if (count == 0) {
    const int64_t number = at;
    *this = later;
    at = number;
    return;
  }
  count += later.count;
  min = std::min(min, later.min);
  max = std::max(max, later.max);
  last = later.last;
  sum += later.sum;
}

void Series::add(int64_t time, double value) {
  const ValueBucket one{
      std::clamp(time, -kMaxTime, kMaxTime) >> shift, 1, value, value, value, value};
  if (buckets.empty() || buckets.back().at < one.at) {
    buckets.push_back(one);
  } else {
    // Threads of the sampler take turns, so readings can be a little late.
    auto place = std::lower_bound(
        buckets.begin(), buckets.end(), one.at,
        [](const ValueBucket& bucket, int64_t number) { return bucket.at < number; });
    if (place->at == one.at) {
      place->merge(one);
    } else {
      buckets.insert(place, one);
    }
  }
  while (buckets.size() > kMaxBuckets && shift < kMaxShift) {
    ++shift;
    std::vector<ValueBucket> wider;
    for (ValueBucket bucket : buckets) {
      bucket.at >>= 1;
      if (!wider.empty() && wider.back().at == bucket.at) {
        wider.back().merge(bucket);
      } else {
        wider.push_back(bucket);
      }
    }
    buckets = std::move(wider);
  }
}

void SeriesTable::add(const format::Batch& batch) {
  visit_readings(batch, [&](const SeriesKey& key, int64_t time, double value) {
    auto found = series_.find(key);
    if (found == series_.end()) {
      if (series_.size() >= kMaxSeries) {
        ++left_out_;
        return;
      }
      found = series_.try_emplace(key).first;
    }
    found->second.add(time, value);
  });
}

void SeriesTable::write(ByteWriter& out) const {
  out.put(left_out_);
  out.put(series_.size());
  for (const auto& [key, series] : series_) {
    out.put_byte(static_cast<uint8_t>(key.kind));
    out.put_signed(key.device);
    out.put_signed(key.index);
    out.put(key.metric);
    out.put(series.shift);
    out.put(series.buckets.size());
    int64_t before = 0;
    for (const ValueBucket& bucket : series.buckets) {
      out.put_signed(bucket.at - before);
      before = bucket.at;
      out.put(bucket.count);
      out.put_number(bucket.min);
      out.put_number(bucket.max);
      out.put_number(bucket.last);
      out.put_number(bucket.sum);
    }
  }
}

SeriesTable SeriesTable::read(ByteReader& in) {
  SeriesTable table;
  table.left_out_ = in.get();
  for (uint64_t left = in.get_count(kMaxSeries); left != 0 && !in.failed(); --left) {
    const uint8_t kind = in.get_byte();
    if (kind >= format::kKindCount || !is_series(static_cast<format::Kind>(kind))) in.fail();
    if (in.failed()) break;
    SeriesKey key{static_cast<format::Kind>(kind)};
    key.device = in.get_signed();
    key.index = in.get_signed();
    key.metric = static_cast<uint32_t>(in.get_count(UINT32_MAX));
    Series& series = table.series_[key];
    series.shift = static_cast<unsigned>(in.get_count(kMaxShift));
    series.buckets.resize(in.get_count(kMaxBuckets));
    int64_t number = 0;
    for (ValueBucket& bucket : series.buckets) {
      number = static_cast<int64_t>(static_cast<uint64_t>(number) +
                                    static_cast<uint64_t>(in.get_signed()));
      bucket.at = number;
      bucket.count = in.get();
      bucket.min = in.get_number();
      bucket.max = in.get_number();
      bucket.last = in.get_number();
      bucket.sum = in.get_number();
    }
  }
  return table;
}

}  // namespace gpufl::index
