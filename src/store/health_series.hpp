// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Readings of a GPU as buckets of time. Plain data; sums of buckets do not depend on the order in
// which they are taken.
namespace gpufl::store {

// How long a bucket of each level is. Every one is part of the next, and all of the hour.
inline constexpr std::array<int64_t, 5> kHealthLevels_s = {1, 10, 60, 600, 3600};
inline constexpr size_t kHealthLevels = kHealthLevels_s.size();
inline constexpr int64_t kHour_s = 3600;
inline constexpr int64_t kDay_s = 24 * kHour_s;

// What was read during one bucket. Of metrics whose values are bits, `least` has those that every
// reading had, and `most` those that any had.
struct HealthBucket {
  uint32_t at = 0;  // which bucket of its hour
  uint64_t count = 0;
  int64_t least = 0, most = 0;
  int64_t sum = 0;  // as close as 64 bits allow

  bool operator==(const HealthBucket&) const = default;
};

struct SeriesName {
  std::string metric;
  int64_t index = 0;  // link, fan, …

  auto operator<=>(const SeriesName&) const = default;
  bool has_bits() const { return metric.ends_with("_bits"); }
};
using HealthSeries = std::vector<HealthBucket>;  // in order of time, each time once
using HealthReadings = std::map<SeriesName, HealthSeries>;

// One reading as a bucket.
HealthBucket reading(uint32_t at, int64_t value);
// Both as one bucket, at the time of the first.
void add_bucket(HealthBucket& to, const HealthBucket& from, bool has_bits);
// Puts it into its place, or into the bucket that is there. True: it is a bucket more.
bool add_to_series(HealthSeries& series, const HealthBucket& bucket, bool has_bits);
// Of `by` buckets each.
HealthSeries coarsened(const HealthSeries& series, uint32_t by, bool has_bits);
HealthReadings coarsened(const HealthReadings& readings, uint32_t by);

}  // namespace gpufl::store
