// SPDX-License-Identifier: Apache-2.0
#include "format/decode_ahead.hpp"

#include <gtest/gtest.h>

namespace gpufl::format {
namespace {

std::string counter_line(int64_t first, int64_t rows) {
  Batch batch(Kind::Counter);
  // Without a pattern, so that lines are as long as their rows are many.
  for (int64_t i = 0; i < rows; ++i) batch.push_row({first + i, 1, (first + i) * 7919 % 1000003});
  std::string text;
  BatchCodec().encode(batch, text);
  text.pop_back();
  return text;
}

class DecodeAheadTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(DecodeAheadTest, LinesComeOutAsTheyWentIn) {
  DecodeAhead ahead(GetParam());
  uint64_t taken = 0;
  const auto take = [&] {
    const DecodeAhead::Line& line = ahead.take();
    EXPECT_EQ(line.number, taken);
    if (line.number % 7 == 3) {
      EXPECT_FALSE(line.status.is_ok());
    } else {
      ASSERT_TRUE(line.status.is_ok()) << line.status.text();
      EXPECT_EQ(line.batch->column(counter_column::kTime)[0], static_cast<int64_t>(taken));
    }
    ++taken;
  };
  constexpr uint64_t kLines = 300;
  for (uint64_t number = 0; number < kLines; ++number) {
    // Short and long ones, so that both ways mix; every seventh is damaged.
    const int64_t rows = number % 3 == 0 ? 5 : 4000;
    std::string text = counter_line(static_cast<int64_t>(number), rows);
    if (number % 7 == 3) text[text.size() / 2] = '!';
    while (ahead.full()) take();
    ahead.put(Kind::Counter, number, text);
  }
  while (!ahead.empty()) take();
  EXPECT_EQ(taken, kLines);
}

TEST_P(DecodeAheadTest, EndsWithLinesThatNobodyTook) {
  const std::string text = counter_line(1, 10'000);
  DecodeAhead ahead(GetParam());
  for (uint64_t number = 0; !ahead.full(); ++number) ahead.put(Kind::Counter, number, text);
  EXPECT_TRUE(ahead.take().status.is_ok());
}

TEST_P(DecodeAheadTest, KindsMayChangeFromLineToLine) {
  DecodeAhead ahead(GetParam());
  Batch metrics(Kind::HostMetric);
  metrics.push_row({1, 0, 2, 3});
  std::string text;
  BatchCodec().encode(metrics, text);
  text.pop_back();
  for (int round = 0; round < 20; ++round) {
    ahead.put(Kind::Counter, 1, counter_line(round, 3));
    EXPECT_EQ(ahead.take().batch->kind(), Kind::Counter);
    ahead.put(Kind::HostMetric, 2, text);
    const DecodeAhead::Line& line = ahead.take();
    EXPECT_EQ(line.batch->kind(), Kind::HostMetric);
    EXPECT_EQ(line.batch->rows(), 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, DecodeAheadTest, ::testing::Values(0, 1, 2, 5));

}  // namespace
}  // namespace gpufl::format
