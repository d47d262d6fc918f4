// SPDX-License-Identifier: Apache-2.0
#include "index/durations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace gpufl::index {
namespace {

constexpr uint32_t kName = 7;
constexpr uint32_t kNames[] = {kName};

// So many distinct durations that they are put into classes.
std::vector<int64_t> many_durations(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> values;
  for (int i = 0; i < 50'000; ++i) {
    values.push_back(
        static_cast<int64_t>(std::exp2(10 + static_cast<double>(random() % 1000) / 50) +
                             static_cast<double>(random() % 1000)));
  }
  return values;
}

TEST(Durations, AreExactWhileThereAreFew) {
  Durations durations;
  for (int i = 0; i < 100'000; ++i) durations.add(TrackKind::Kernels, kName, 1000 + i % 100);
  const DurationStats stats = durations.of(TrackKind::Kernels, kNames);
  EXPECT_EQ(stats.relative_error, 0);
  EXPECT_EQ(stats.stats.count, 100'000U);
  EXPECT_EQ(stats.stats.median, 1049.5);
  EXPECT_EQ(stats.stats.p99, 1098);
  EXPECT_EQ(durations.of(TrackKind::Scopes, kNames).stats.count, 0U);
}

TEST(Durations, StateTheirErrorWhereThereAreMany) {
  std::vector<int64_t> values = many_durations(1);
  Durations durations;
  for (const int64_t value : values) durations.add(TrackKind::Kernels, kName, value);
  const DurationStats stats = durations.of(TrackKind::Kernels, kNames);
  const analysis::Stats exact = analysis::stats_of(std::span<int64_t>(values));
  EXPECT_GT(stats.relative_error, 0);
  EXPECT_LT(stats.relative_error, 0.01);
  EXPECT_EQ(stats.stats.count, exact.count);
  EXPECT_EQ(stats.stats.total, exact.total);
  EXPECT_EQ(stats.stats.min, exact.min);
  EXPECT_EQ(stats.stats.max, exact.max);
  const auto near = [&](double value, double wanted) {
    EXPECT_NEAR(value, wanted, wanted * stats.relative_error + 1);
  };
  near(stats.stats.median, exact.median);
  near(static_cast<double>(stats.stats.p90), static_cast<double>(exact.p90));
  near(static_cast<double>(stats.stats.p99), static_cast<double>(exact.p99));
}

TEST(Durations, MergeAndSurviveBytes) {
  Durations one;
  Durations other;
  Durations both;
  for (const int64_t value : many_durations(2)) {
    one.add(TrackKind::Kernels, kName, value);
    both.add(TrackKind::Kernels, kName, value);
  }
  for (int64_t value = 0; value < 100; ++value) {
    other.add(TrackKind::Kernels, kName, value);
    both.add(TrackKind::Kernels, kName, value);
  }
  ByteWriter bytes;
  other.write(bytes);
  ByteReader reader(bytes.bytes());
  one.merge(Durations::read(reader));
  EXPECT_FALSE(reader.failed());
  EXPECT_EQ(reader.left(), 0U);
  const DurationStats merged = one.of(TrackKind::Kernels, kNames);
  const DurationStats wanted = both.of(TrackKind::Kernels, kNames);
  EXPECT_EQ(merged.stats.count, wanted.stats.count);
  EXPECT_EQ(merged.stats.median, wanted.stats.median);
  EXPECT_EQ(merged.stats.p99, wanted.stats.p99);
}

}  // namespace
}  // namespace gpufl::index
