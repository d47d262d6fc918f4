// SPDX-License-Identifier: Apache-2.0
#include "index/series_tile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "format/test_session.hpp"
#include "index/session_index.hpp"

namespace gpufl::index {
namespace {

struct Reading {
  int64_t time;
  double value;
};

class SeriesTileTest : public ::testing::Test {
 protected:
  // Two GPUs with a metric and a hardware counter each, and a counter of the program, in several
  // windows.
  void SetUp() override {
    format::LogOptions options = format::testing::test_options(temp_.path() / "session");
    options.window_bytes = 30'000;
    auto writer = format::testing::make_writer(options);
    const auto metric = static_cast<uint32_t>(writer->intern(format::Dict::Metric, "power_mw"));
    const auto hardware =
        static_cast<uint32_t>(writer->intern(format::Dict::Metric, "dram__bytes.sum"));
    const auto name = static_cast<uint32_t>(writer->intern(format::Dict::Name, "tokens"));
    std::mt19937_64 random(1);
    int64_t time = 0;
    for (int i = 0; i < 200; ++i) {
      format::Batch metrics(format::Kind::DeviceMetric);
      format::Batch counters(format::Kind::Counter);
      format::Batch samples(format::Kind::PmSample);
      for (int j = 0; j < 20; ++j) {
        time += 1'000'000 + static_cast<int64_t>(random() % 9'000'000);
        for (int64_t device = 0; device < 2; ++device) {
          const auto value = static_cast<int64_t>(random() % 700'000);
          metrics.push_row({time, device, 0, metric, value});
          readings_[{format::Kind::DeviceMetric, device, 0, metric}].push_back(
              {time, static_cast<double>(value)});
          samples.push_row({time, 1'000, device, hardware, value, j % 2 == 0 ? -2 : 3});
          readings_[{format::Kind::PmSample, device, 0, hardware}].push_back(
              {time, static_cast<double>(value) * (j % 2 == 0 ? 0.01 : 1000)});
        }
        counters.push_row({time, name, i * 20 + j});
        readings_[{format::Kind::Counter, -1, 0, name}].push_back(
            {time, static_cast<double>(i * 20 + j)});
      }
      writer->write(metrics);
      writer->write(counters);
      writer->write(samples);
      ASSERT_TRUE(writer->flush(time));
    }
    ASSERT_TRUE(writer->close(time, format::Ledger()));
    last_ = time;
    index_ = std::make_unique<SessionIndex>(temp_.path() / "session", temp_.path() / "cache");
    ASSERT_TRUE(index_->update([] { return true; }));
  }

  format::testing::TempDir temp_;
  std::map<SeriesKey, std::vector<Reading>> readings_;
  std::unique_ptr<SessionIndex> index_;
  int64_t last_ = 0;
};

TEST_F(SeriesTileTest, EveryReadingIsInOneStep) {
  const Windows& windows = index_->session()->windows;
  EXPECT_EQ(list_series(windows).size(), readings_.size());
  std::mt19937_64 random(2);
  for (int i = 0; i < 60; ++i) {
    SeriesRequest request;
    request.width = static_cast<uint32_t>(1 + random() % 400);
    request.from = static_cast<int64_t>(random() % static_cast<uint64_t>(last_));
    request.to = request.from + 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(last_));
    if (i == 0) request.from = 0, request.to = last_ + 1;
    request.series = list_series(windows);
    const auto pictures = make_series_tile(windows, request);
    ASSERT_TRUE(pictures) << pictures.status().text();
    for (const SeriesPicture& picture : *pictures) {
      for (const ValueBucket& step : picture.steps) {
        ValueBucket wanted;
        for (const Reading& reading : readings_[picture.key]) {
          if (reading.time >> picture.shift != step.at) continue;
          wanted.merge({0, 1, reading.value, reading.value, reading.value, reading.value});
        }
        const bool is_whole = (step.at << picture.shift) >= request.from &&
                              ((step.at + 1) << picture.shift) <= request.to;
        if (!is_whole) continue;
        EXPECT_EQ(step.count, wanted.count);
        EXPECT_DOUBLE_EQ(step.min, wanted.min);
        EXPECT_DOUBLE_EQ(step.max, wanted.max);
        EXPECT_DOUBLE_EQ(step.last, wanted.last);
        EXPECT_NEAR(step.sum, wanted.sum, std::abs(wanted.sum) * 1e-12);
      }
    }
  }
}

TEST_F(SeriesTileTest, AShortRangeHasEachReading) {
  const SeriesKey key = readings_.begin()->first;
  const Reading& first = readings_[key][700];
  const Reading& last = readings_[key][720];
  const auto pictures =
      make_series_tile(index_->session()->windows, {first.time, last.time + 1, 1600, {key}});
  ASSERT_TRUE(pictures);
  ASSERT_EQ((*pictures)[0].shift, 0U);
  ASSERT_EQ((*pictures)[0].steps.size(), 21U);
  for (size_t i = 0; i < 21; ++i) {
    EXPECT_EQ((*pictures)[0].steps[i].at, readings_[key][700 + i].time);
    EXPECT_EQ((*pictures)[0].steps[i].last, readings_[key][700 + i].value);
  }
}

TEST_F(SeriesTileTest, HardwareCountersAreSeriesOfTheirGpu) {
  std::vector<SeriesKey> keys = list_series(index_->session()->windows);
  std::erase_if(keys, [](const SeriesKey& key) { return key.kind != format::Kind::PmSample; });
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].device, 0);
  EXPECT_EQ(keys[1].device, 1);
  // Each with the power of ten that it was written with.
  const std::vector<Reading>& readings = readings_[keys[1]];
  const auto pictures = make_series_tile(index_->session()->windows,
                                         {readings[8].time, readings[10].time, 1600, {keys[1]}});
  ASSERT_TRUE(pictures);
  ASSERT_EQ((*pictures)[0].steps.size(), 2U);
  EXPECT_DOUBLE_EQ((*pictures)[0].steps[0].last, readings[8].value);
  EXPECT_DOUBLE_EQ((*pictures)[0].steps[1].last, readings[9].value);
}

TEST(SeriesTest, ReadingsBeyondAllNumbersAreLeftOut) {
  format::Batch samples(format::Kind::PmSample);
  samples.push_row({0, 10, 0, 1, 5, 400});
  samples.push_row({0, 10, 0, 1, 5, INT64_MIN});
  samples.push_row({0, 10, 0, 1, 5, 1});
  SeriesTable table;
  table.add(samples);
  const ValueBucket& bucket = table.all().begin()->second.buckets.at(0);
  EXPECT_EQ(bucket.count, 2U);
  EXPECT_EQ(bucket.min, 0);
  EXPECT_EQ(bucket.max, 50);
}

TEST_F(SeriesTileTest, SenselessRequestsAreRefused) {
  EXPECT_EQ(make_series_tile({}, {5, 5, 10, {}}).status().code(), base::Code::InvalidArgument);
  EXPECT_EQ(make_series_tile({}, {0, 5, 0, {}}).status().code(), base::Code::InvalidArgument);
}

}  // namespace
}  // namespace gpufl::index
