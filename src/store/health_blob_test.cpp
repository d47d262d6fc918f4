// SPDX-License-Identifier: Apache-2.0
#include "store/health_blob.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/hash.hpp"

namespace gpufl::store {
namespace {

using base::Code;

// Readings as a machine has them, and as nobody has: gaps, repeats, the ends of what 64 bits hold.
HealthReadings random_readings(std::mt19937_64& random, size_t most_series) {
  HealthReadings readings;
  for (size_t i = random() % most_series + 1; i > 0; --i) {
    const std::string metric = random() % 4 == 0 ? "clock_limits_bits" : "m" + std::to_string(i);
    HealthSeries& series = readings[{metric, static_cast<int64_t>(random()) >> (random() % 64)}];
    const uint64_t kind = random() % 4;
    for (size_t n = random() % 400 + 1; n > 0; --n) {
      const auto at = static_cast<uint32_t>(random() % kHour_s);
      const int64_t value = kind == 0   ? 42
                            : kind == 1 ? static_cast<int64_t>(random())
                            : kind == 2 ? static_cast<int64_t>(random() % 100)
                                        : (random() % 2 == 0 ? INT64_MIN : INT64_MAX);
      add_to_series(series, reading(at, value), metric.ends_with("_bits"));
    }
  }
  return readings;
}

TEST(HealthBlob, WhatIsWrittenIsRead) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    HealthParts parts;
    for (size_t i = random() % 5; i > 0; --i) {
      parts[{static_cast<int64_t>(random() % 9), random() >> (random() % 64)}] =
          random_readings(random, 8);
    }
    const std::string bytes = encode_health(parts);
    const auto read = decode_health(bytes);
    ASSERT_TRUE(read) << "seed " << seed;
    EXPECT_EQ(*read, parts) << "seed " << seed;
    for (const auto& [source, readings] : parts) {
      for (const int64_t level_s : kHealthLevels_s) {
        const HealthParts coarse = {{source, coarsened(readings, static_cast<uint32_t>(level_s))}};
        const auto read_coarse = decode_health(encode_health(coarse));
        ASSERT_TRUE(read_coarse);
        EXPECT_EQ(*read_coarse, coarse) << "seed " << seed << " level " << level_s;
      }
    }
  }
}

// With the right hash, so that the decoder itself sees it.
std::string with_hash(std::string bytes) {
  bytes.resize(bytes.size() - sizeof(uint64_t));
  const uint64_t hash = base::xxh64(bytes.data(), bytes.size());
  bytes.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  return bytes;
}

TEST(HealthBlob, DamagedBytesAreRefusedOrHarmless) {
  std::mt19937_64 random(7);
  const HealthParts parts = {{{1, 1}, random_readings(random, 4)}};
  const std::string bytes = encode_health(parts);
  for (size_t length = 0; length < bytes.size(); length += 7) {
    EXPECT_EQ(decode_health(bytes.substr(0, length)).status().code(), Code::Corrupt);
  }
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    EXPECT_FALSE(decode_health(damaged));
    std::string wrong = bytes;
    for (uint64_t i = random() % 4 + 1; i > 0; --i) {
      wrong[random() % wrong.size()] = static_cast<char>(random());
    }
    const auto read = decode_health(with_hash(wrong));
    if (!read) continue;
    for (const auto& [source, readings] : *read) {
      for (const auto& [name, series] : readings) {
        for (size_t i = 0; i < series.size(); ++i) {
          ASSERT_LT(series[i].at, kHour_s);
          const bool is_in_order = i == 0 || series[i - 1].at < series[i].at;
          ASSERT_TRUE(is_in_order);
        }
      }
    }
  }
}

TEST(HealthSeries, LevelsAreWhatAllReadingsSay) {
  std::mt19937_64 random(3);
  for (const bool has_bits : {false, true}) {
    const SeriesName name{has_bits ? "clock_limits_bits" : "power_mw", 0};
    std::vector<std::pair<uint32_t, int64_t>> all;
    HealthReadings readings;
    for (int i = 0; i < 5000; ++i) {
      all.emplace_back(random() % kHour_s, static_cast<int64_t>(random() % 100'000));
      add_to_series(readings[name], reading(all.back().first, all.back().second), has_bits);
    }
    for (const int64_t level_s : kHealthLevels_s) {
      const HealthReadings found = coarsened(readings, static_cast<uint32_t>(level_s));
      std::map<uint32_t, HealthBucket> expected;
      for (const auto& [at, value] : all) {
        HealthBucket& bucket =
            expected
                .try_emplace(static_cast<uint32_t>(at / level_s),
                             HealthBucket{static_cast<uint32_t>(at / level_s), 0, value, value, 0})
                .first->second;
        ++bucket.count;
        bucket.sum += value;
        bucket.least = has_bits ? bucket.least & value : std::min(bucket.least, value);
        bucket.most = has_bits ? bucket.most | value : std::max(bucket.most, value);
      }
      HealthSeries as_series;
      for (const auto& [at, bucket] : expected) as_series.push_back(bucket);
      EXPECT_EQ(found.at(name), as_series) << level_s;
    }
  }
}

TEST(HealthSeries, SumsStopAtTheEndOfWhatFits) {
  HealthSeries series;
  add_to_series(series, reading(1, INT64_MAX), false);
  add_to_series(series, reading(1, INT64_MAX), false);
  EXPECT_EQ(series.front().sum, INT64_MAX);
  EXPECT_EQ(series.front().count, 2U);
}

TEST(HealthBlob, ReadingsThatDoNotChangeCostNextToNothing) {
  HealthReadings readings;
  for (uint32_t at = 0; at < kHour_s; ++at) {
    add_to_series(readings[{"memory_total_bytes", 0}], reading(at, int64_t{1} << 37), false);
  }
  EXPECT_LT(encode_health({{{1, 1}, readings}}).size(), 80U);
}

}  // namespace
}  // namespace gpufl::store
