// SPDX-License-Identifier: Apache-2.0
#include "capture/engine_ladder.hpp"

#include <gtest/gtest.h>

namespace gpufl::capture {
namespace {

const backend::Availability kTraceable{true, {}, {}, {}};
const backend::Availability kNotTraceable{false, "library_not_found", "no libcupti", "install it"};

TEST(EngineLadder, WhatIsThereRuns) {
  const format::Capability monitor = choose_engine("Monitor", kNotTraceable);
  EXPECT_EQ(monitor.got, "Monitor");
  EXPECT_EQ(monitor.asked, monitor.got);
  EXPECT_EQ(monitor.reason, "");
  EXPECT_EQ(choose_engine("Trace", kTraceable).got, "Trace");
}

TEST(EngineLadder, FallsToTheNextLowerOne) {
  for (const char* asked : {"PcSampling", "SassMetrics", "RangeProfiler", "Deep", "PmSampling",
                            "RangeProfilerKernelReplay"}) {
    const format::Capability choice = choose_engine(asked, kTraceable);
    EXPECT_EQ(choice.got, "Trace") << asked;
    EXPECT_EQ(choice.asked, asked);
    EXPECT_EQ(choice.got, "Trace");
    EXPECT_EQ(choice.reason, "not_in_this_version");
  }
}

TEST(EngineLadder, WithoutTracingFallsToMonitorAndSaysWhy) {
  for (const char* asked : {"Trace", "Deep"}) {
    const format::Capability choice = choose_engine(asked, kNotTraceable);
    EXPECT_EQ(choice.got, "Monitor");
    EXPECT_EQ(choice.reason, "library_not_found");
    EXPECT_EQ(choice.hint, "install it");
  }
}

TEST(EngineLadder, UnknownEngineIsMonitor) {
  const format::Capability choice = choose_engine("Warp", kTraceable);
  EXPECT_EQ(choice.got, "Monitor");
  EXPECT_EQ(choice.reason, "unknown_engine");
}

TEST(EngineLadder, TheNoteSaysWhoseEngineItIs) {
  EXPECT_EQ(choose_engine("Trace", kTraceable, "nvidia").backend, "nvidia");
  EXPECT_EQ(choose_engine("Trace", kTraceable).backend, "");
}

TEST(EngineLadder, FeaturesAskedForByHandAreNoted) {
  const auto notes = unserved_features("Monitor", {"enable_stack_trace"});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].feature, "enable_stack_trace");
  EXPECT_EQ(notes[0].asked, "on");
  EXPECT_EQ(notes[0].got, "off");
  EXPECT_EQ(notes[0].reason, "engine_too_low");
  // Trace records them; what it cannot, its tracer says.
  EXPECT_TRUE(unserved_features("Trace", {"enable_memory_tracking"}).empty());
}

}  // namespace
}  // namespace gpufl::capture
