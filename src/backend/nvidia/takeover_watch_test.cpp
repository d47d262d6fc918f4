// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/takeover_watch.hpp"

#include <gtest/gtest.h>

namespace gpufl::backend {
namespace {

constexpr int64_t kStart = 5'000'000'000'000;

TEST(TakeoverWatchTest, LaunchesThatGoOnWithoutBuffers) {
  TakeoverWatch watch;
  watch.on_buffers(3);
  watch.on_launch(kStart);
  watch.on_launch(kStart + TakeoverWatch::kSilenceNs - 1);
  EXPECT_FALSE(watch.is_taken_over());
  watch.on_buffers(3);
  watch.on_launch(kStart + TakeoverWatch::kSilenceNs);
  EXPECT_TRUE(watch.is_taken_over());
  watch.on_buffers(4);
  EXPECT_FALSE(watch.is_taken_over());
}

TEST(TakeoverWatchTest, AProgramThatRestsIsNone) {
  TakeoverWatch watch;
  EXPECT_FALSE(watch.is_taken_over());
  watch.on_launch(kStart);
  EXPECT_FALSE(watch.is_taken_over());
  watch.on_buffers(1);
  watch.on_launch(kStart + 60 * TakeoverWatch::kSilenceNs);
  EXPECT_FALSE(watch.is_taken_over());
}

}  // namespace
}  // namespace gpufl::backend
