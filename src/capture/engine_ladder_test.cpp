// SPDX-License-Identifier: Apache-2.0
#include "capture/engine_ladder.hpp"

#include <gtest/gtest.h>

namespace gpufl::capture {
namespace {

const backend::Availability kTraceable{true, {}, {}, {}};
const backend::Availability kNotTraceable{false, "library_not_found", "no libcupti", "install it"};

TEST(EngineLadder, WhatIsThereRuns) {
  const EngineChoice monitor = choose_engine("Monitor", kNotTraceable, {});
  EXPECT_EQ(monitor.engine, "Monitor");
  ASSERT_EQ(monitor.notes.size(), 1u);
  EXPECT_EQ(monitor.notes[0].asked, monitor.notes[0].got);
  EXPECT_EQ(monitor.notes[0].reason, "");
  EXPECT_EQ(choose_engine("Trace", kTraceable, {}).engine, "Trace");
}

TEST(EngineLadder, FallsToTheNextLowerOne) {
  for (const char* asked : {"PcSampling", "SassMetrics", "RangeProfiler", "Deep", "PmSampling",
                            "RangeProfilerKernelReplay"}) {
    const EngineChoice choice = choose_engine(asked, kTraceable, {});
    EXPECT_EQ(choice.engine, "Trace") << asked;
    EXPECT_EQ(choice.notes[0].asked, asked);
    EXPECT_EQ(choice.notes[0].got, "Trace");
    EXPECT_EQ(choice.notes[0].reason, "not_in_this_version");
  }
}

TEST(EngineLadder, WithoutTracingFallsToMonitorAndSaysWhy) {
  for (const char* asked : {"Trace", "Deep"}) {
    const EngineChoice choice = choose_engine(asked, kNotTraceable, {});
    EXPECT_EQ(choice.engine, "Monitor");
    EXPECT_EQ(choice.notes[0].reason, "library_not_found");
    EXPECT_EQ(choice.notes[0].hint, "install it");
  }
}

TEST(EngineLadder, UnknownEngineIsMonitor) {
  const EngineChoice choice = choose_engine("Warp", kTraceable, {});
  EXPECT_EQ(choice.engine, "Monitor");
  EXPECT_EQ(choice.notes[0].reason, "unknown_engine");
}

TEST(EngineLadder, FeaturesAskedForByHandAreNoted) {
  const EngineChoice monitor = choose_engine("Monitor", kTraceable, {"enable_stack_trace"});
  ASSERT_EQ(monitor.notes.size(), 2u);
  EXPECT_EQ(monitor.notes[1].feature, "enable_stack_trace");
  EXPECT_EQ(monitor.notes[1].asked, "on");
  EXPECT_EQ(monitor.notes[1].got, "off");
  EXPECT_EQ(monitor.notes[1].reason, "engine_too_low");
  // Trace records them; what it cannot, its tracer says.
  EXPECT_EQ(choose_engine("Trace", kTraceable, {"enable_memory_tracking"}).notes.size(), 1u);
}

}  // namespace
}  // namespace gpufl::capture
