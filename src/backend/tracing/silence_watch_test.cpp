// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/silence_watch.hpp"

#include <gtest/gtest.h>

namespace gpufl::backend {
namespace {

constexpr int64_t kStart = 5'000'000'000'000;

TEST(SilenceWatchTest, LaunchesThatGoOnWithoutBuffers) {
  SilenceWatch watch;
  watch.on_buffers(3);
  watch.on_launch(kStart);
  watch.on_launch(kStart + SilenceWatch::kSilenceNs - 1);
  EXPECT_FALSE(watch.is_silent());
  watch.on_buffers(3);
  watch.on_launch(kStart + SilenceWatch::kSilenceNs);
  EXPECT_TRUE(watch.is_silent());
  watch.on_buffers(4);
  EXPECT_FALSE(watch.is_silent());
}

TEST(SilenceWatchTest, AProgramThatRestsIsNone) {
  SilenceWatch watch;
  EXPECT_FALSE(watch.is_silent());
  watch.on_launch(kStart);
  EXPECT_FALSE(watch.is_silent());
  watch.on_buffers(1);
  watch.on_launch(kStart + 60 * SilenceWatch::kSilenceNs);
  EXPECT_FALSE(watch.is_silent());
}

}  // namespace
}  // namespace gpufl::backend
