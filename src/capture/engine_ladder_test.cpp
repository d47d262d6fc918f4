// SPDX-License-Identifier: Apache-2.0
#include "capture/engine_ladder.hpp"

#include <gtest/gtest.h>

namespace gpufl::capture {
namespace {

const EngineSupport kTraceable = everything_supported();
const backend::Availability kNoLibrary{false, "library_not_found", "no libcupti", "install it"};
const backend::Availability kNotAllowed{false, "permission_denied", "not this user", "ask for it"};
const backend::Availability kTooOld{false, "cupti_too_old", "no SASS metrics", "update"};
const EngineSupport kNotTraceable{kNoLibrary, kNoLibrary, kNoLibrary};
const EngineSupport kNotSampled{{true, {}, {}, {}}, kNotAllowed, kNotAllowed};
const EngineSupport kNotCounted{{true, {}, {}, {}}, {true, {}, {}, {}}, kTooOld};

TEST(EngineLadder, WhatIsThereRuns) {
  const format::Capability monitor = choose_engine("Monitor", kNotTraceable);
  EXPECT_EQ(monitor.got, "Monitor");
  EXPECT_EQ(monitor.asked, monitor.got);
  EXPECT_EQ(monitor.reason, "");
  EXPECT_EQ(choose_engine("Trace", kTraceable).got, "Trace");
  EXPECT_EQ(choose_engine("Trace", kNotSampled).got, "Trace");
  EXPECT_EQ(choose_engine("Trace", kNotSampled).reason, "");
  for (const char* asked : {"PmSampling", "PcSampling", "SassMetrics", "RangeProfiler", "Deep"}) {
    EXPECT_EQ(choose_engine(asked, kTraceable).got, asked);
    EXPECT_EQ(choose_engine(asked, kTraceable).reason, "");
  }
}

TEST(EngineLadder, WhatIsNotHereFallsToWhatCostsLess) {
  const char* const asked = "RangeProfilerKernelReplay";
  const format::Capability choice = choose_engine(asked, kTraceable);
  EXPECT_EQ(choice.got, "Trace");
  EXPECT_EQ(choice.asked, asked);
  EXPECT_EQ(choice.reason, "not_in_this_version");
  EXPECT_FALSE(takes_samples(asked));
  EXPECT_EQ(counting_engine(asked), "");
}

TEST(EngineLadder, WithoutCountersFallsToWhatIsRecordedBetweenThem) {
  EXPECT_EQ(choose_engine("SassMetrics", kNotCounted).got, "Trace");
  EXPECT_EQ(choose_engine("SassMetrics", kNotCounted).reason, "cupti_too_old");
  EXPECT_EQ(choose_engine("RangeProfiler", kNotCounted).got, "Trace");
  EXPECT_EQ(choose_engine("RangeProfiler", kNotCounted).reason, "cupti_too_old");
  EXPECT_EQ(choose_engine("PmSampling", kNotCounted).got, "Trace");
  EXPECT_EQ(choose_engine("PmSampling", kNotCounted).reason, "cupti_too_old");
  EXPECT_EQ(choose_engine("Deep", kNotCounted).got, "PcSampling");
  EXPECT_EQ(choose_engine("Deep", kNotCounted).detail, "no SASS metrics");
  EXPECT_EQ(choose_engine("PcSampling", kNotCounted).got, "PcSampling");
}

TEST(EngineLadder, APhaseHasTheOptionsOfItsEngineAlone) {
  backend::TraceOptions options;
  options.pc_sampling.emplace();
  options.sass.emplace();
  options.ranges.emplace();
  options.pm_sampling.emplace();
  const auto of = [&](std::string_view engine) { return phase_options(options, engine); };
  EXPECT_TRUE(of("PcSampling").pc_sampling && !of("PcSampling").sass);
  EXPECT_TRUE(of("SassMetrics").sass && !of("SassMetrics").pc_sampling);
  EXPECT_TRUE(of("RangeProfiler").ranges && !of("RangeProfiler").sass);
  EXPECT_FALSE(of("SassMetrics").ranges || of("PcSampling").ranges);
  EXPECT_FALSE(of("Trace").counts() || of("Trace").pc_sampling);
  EXPECT_TRUE(of("PmSampling").pm_sampling && !of("PmSampling").counts());
  EXPECT_FALSE(of("Trace").has_engine() || of("RangeProfiler").pm_sampling);
  EXPECT_EQ(base_engine("PmSampling"), "PmSampling") << "beside the records, all the time";
  EXPECT_EQ(first_engine("PmSampling"), "PmSampling");
  EXPECT_EQ(base_engine("RangeProfiler"), "Trace");
  EXPECT_EQ(first_engine("RangeProfiler"), "RangeProfiler");
  EXPECT_EQ(first_engine("Deep"), "PcSampling");
  EXPECT_EQ(counting_engine("RangeProfiler"), "RangeProfiler");
  EXPECT_EQ(counting_engine("Deep"), "SassMetrics");
  EXPECT_EQ(base_engine("SassMetrics"), "Trace");
  EXPECT_EQ(base_engine("Deep"), "PcSampling");
}

TEST(EngineLadder, WithoutSamplesFallsToTraceAndSaysWhy) {
  for (const char* asked : {"PcSampling", "SassMetrics", "Deep"}) {
    const format::Capability choice = choose_engine(asked, kNotSampled);
    EXPECT_EQ(choice.got, "Trace") << asked;
    EXPECT_EQ(choice.reason, "permission_denied");
    EXPECT_EQ(choice.detail, "not this user");
    EXPECT_EQ(choice.hint, "ask for it");
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
  EXPECT_EQ(unserved_features("Trace", {"pc_sampling_period"}).size(), 1u);
  EXPECT_TRUE(unserved_features("PcSampling", {"pc_sampling_period"}).empty());
  EXPECT_EQ(unserved_features("PcSampling", {"sass_metrics"}).size(), 1u);
  EXPECT_EQ(unserved_features("RangeProfiler", {"sass_metrics"}).size(), 1u);
  EXPECT_EQ(unserved_features("SassMetrics", {"range_metrics"}).size(), 1u);
  EXPECT_TRUE(unserved_features("RangeProfiler", {"range_metrics", "deep_when"}).empty());
  EXPECT_TRUE(unserved_features("PmSampling", {"pm_sampling_metrics"}).empty());
  EXPECT_EQ(unserved_features("PmSampling", {"deep_when", "range_metrics"}).size(), 2u);
  const auto over_time = unserved_features("Trace", {"pm_sampling_interval_us"});
  ASSERT_EQ(over_time.size(), 1u);
  EXPECT_EQ(over_time[0].detail, "the engine Trace has no hardware counters over time");
  EXPECT_EQ(over_time[0].hint, "choose the engine PmSampling");
  EXPECT_TRUE(unserved_features("Deep", {"sass_metrics", "pc_sampling_period"}).empty());
}

}  // namespace
}  // namespace gpufl::capture
