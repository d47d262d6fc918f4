// SPDX-License-Identifier: Apache-2.0
#include "capture/round_pause.hpp"

#include <gtest/gtest.h>

namespace gpufl::capture {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kMillisecond_ns = 1'000'000;

TEST(RoundPause, IsLongWhileLittleComes) {
  RoundPause pause;
  EXPECT_EQ(pause.next(false, 0, 50 * kMillisecond_ns), 50ms);
  EXPECT_EQ(pause.next(false, RoundPause::kRoundBytes, 50 * kMillisecond_ns), 50ms);
  EXPECT_EQ(pause.now(), 50ms);
}

TEST(RoundPause, GetsShortAtOnceAndLongAgainSlowly) {
  RoundPause pause;
  EXPECT_EQ(pause.next(true, 0, 50 * kMillisecond_ns), 12ms);
  EXPECT_EQ(pause.next(true, 0, 12 * kMillisecond_ns), 3ms);
  EXPECT_EQ(pause.next(true, 0, 3 * kMillisecond_ns), 2ms);
  EXPECT_EQ(pause.next(false, 0, 2 * kMillisecond_ns), 4ms);
  for (int i = 0; i < 10; ++i) pause.next(false, 0, 50 * kMillisecond_ns);
  EXPECT_EQ(pause.now(), 50ms);
}

// 2 MiB a round, whatever the rate.
TEST(RoundPause, RecordsThatWaitAreFew) {
  for (const int64_t bytes_per_ms : {50'000, 100'000, 160'000, 500'000}) {
    RoundPause pause;
    auto rest = pause.now();
    for (int i = 0; i < 20; ++i) {
      const int64_t elapsed_ms = rest.count() + 1;  // and the round itself
      rest = pause.next(false, static_cast<size_t>(bytes_per_ms * elapsed_ms),
                        elapsed_ms * kMillisecond_ns);
    }
    const auto waiting = static_cast<size_t>(bytes_per_ms * rest.count());
    EXPECT_LE(waiting, RoundPause::kRoundBytes) << bytes_per_ms;
    EXPECT_GE(waiting, RoundPause::kRoundBytes / 2) << bytes_per_ms;
  }
}

TEST(RoundPause, NoRateMakesItRestless) {
  RoundPause pause;
  EXPECT_EQ(pause.next(false, size_t{1} << 40, kMillisecond_ns), 2ms);
  EXPECT_EQ(pause.next(false, size_t{1} << 40, 0), 2ms);
}

}  // namespace
}  // namespace gpufl::capture
