// SPDX-License-Identifier: Apache-2.0
#include "store/health_series.hpp"

#include <algorithm>

namespace gpufl::store {
namespace {

int64_t sum_of(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

}  // namespace

HealthBucket reading(uint32_t at, int64_t value) { return {at, 1, value, value, value}; }

void add_bucket(HealthBucket& to, const HealthBucket& from, bool has_bits) {
  to.least = has_bits ? to.least & from.least : std::min(to.least, from.least);
  to.most = has_bits ? to.most | from.most : std::max(to.most, from.most);
  to.sum = sum_of(to.sum, from.sum);
  to.count += from.count;
}

bool add_to_series(HealthSeries& series, const HealthBucket& bucket, bool has_bits) {
  auto place = series.end();
  if (!series.empty() && series.back().at >= bucket.at) {
    place = std::lower_bound(series.begin(), series.end(), bucket.at,
                             [](const HealthBucket& one, uint32_t at) { return one.at < at; });
  }
  if (place != series.end() && place->at == bucket.at) {
    add_bucket(*place, bucket, has_bits);
    return false;
  }
  series.insert(place, bucket);
  return true;
}

HealthSeries coarsened(const HealthSeries& series, uint32_t by, bool has_bits) {
  HealthSeries coarse;
  for (HealthBucket bucket : series) {
    bucket.at /= by;
    add_to_series(coarse, bucket, has_bits);
  }
  return coarse;
}

HealthReadings coarsened(const HealthReadings& readings, uint32_t by) {
  HealthReadings coarse;
  for (const auto& [name, series] : readings) {
    coarse.emplace(name, coarsened(series, by, name.has_bits()));
  }
  return coarse;
}

}  // namespace gpufl::store
