// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "analysis/insights/test_program.hpp"

namespace gpufl::analysis::testing {
namespace {

// A second of work, sampled every 10 ms; the first `affected` samples have these reasons and clock.
std::vector<Insight> sampled(TestProgram& program, int affected, int64_t reasons, int64_t clock) {
  program.device_fact(0, "max_compute_clock_mhz", 2'000);
  program.kernel("step", 0, kS);
  for (int i = 0; i <= 100; ++i) {
    program.metric("throttle_reasons_bits", 0, i * 10 * kMs, i < affected ? reasons : 0);
    program.metric("sm_clock_mhz", 0, i * 10 * kMs, i < affected ? clock : 2'000);
  }
  return program.insights();
}

TEST(Throttling, BusyTimeAtALowerClock) {
  TestProgram program;
  const auto found = of_rule(sampled(program, 50, 0x40, 1'500), "throttling");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "GPU 0 throttled: hw_thermal");
  EXPECT_EQ(found[0].detail,
            "500.0 ms of the GPU's busy time (50.0%), at 1500 MHz of 2000 on average");
  EXPECT_NEAR(*found[0].gain_ns, 0.5 * kS * 0.25, 1);
  EXPECT_EQ(found[0].severity, Severity::High);
}

TEST(Throttling, NotForAnIdleGpuNorForAMoment) {
  TestProgram idle;
  idle.device_fact(0, "max_compute_clock_mhz", 2'000);
  for (int i = 0; i <= 100; ++i) {
    idle.metric("throttle_reasons_bits", 0, i * 10 * kMs, 0x41);
    idle.metric("sm_clock_mhz", 0, i * 10 * kMs, 345);
  }
  EXPECT_TRUE(of_rule(idle.insights(), "throttling").empty());
  TestProgram moment;
  Thresholds thresholds;
  thresholds.throttling.min_time_share = 0.02;
  moment.kernel("step", 0, kS);
  for (int i = 0; i <= 100; ++i) {
    moment.metric("throttle_reasons_bits", 0, i * 10 * kMs, i == 0 ? 0x40 : 0);
  }
  EXPECT_TRUE(of_rule(moment.insights(thresholds), "throttling").empty());
}

TEST(Throttling, APauseOfSamplingIsNotThrottledTime) {
  TestProgram program;
  program.device_fact(0, "max_compute_clock_mhz", 2'000);
  program.kernel("step", 0, 10 * kS);
  for (int i = 0; i <= 10; ++i) {
    for (const int64_t from : {int64_t{0}, 9 * kS}) {
      program.metric("throttle_reasons_bits", 0, from + i * 10 * kMs, 0x40);
      program.metric("sm_clock_mhz", 0, from + i * 10 * kMs, 1'000);
    }
  }
  const auto found = of_rule(program.insights(), "throttling");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(*found[0].gain_ns, 0.5 * 230 * kMs, 1);  // 100 + 30 + 100 ms
}

TEST(PowerCap, ShareOfBusyTime) {
  TestProgram program;
  const auto insights = sampled(program, 50, 0x4, 1'600);
  const auto found = of_rule(insights, "power_cap");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "GPU 0 held back by its power limit for 50.0% of its busy time");
  EXPECT_NEAR(*found[0].gain_ns, 0.5 * kS * 0.2, 1);
  EXPECT_TRUE(of_rule(insights, "throttling").empty());
  TestProgram little;
  EXPECT_TRUE(of_rule(sampled(little, 4, 0x4, 1'600), "power_cap").empty());
}

TEST(ClockDrop, LowClockWithNoReason) {
  TestProgram program;
  const auto found = of_rule(sampled(program, 50, 0x2, 1'400), "clock_drop");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "GPU 0 ran below its clock: 1400 of 2000 MHz, with no throttling");
  EXPECT_NEAR(*found[0].gain_ns, 0.5 * kS * 0.3, 1);
  TestProgram near;
  EXPECT_TRUE(of_rule(sampled(near, 50, 0x2, 1'800), "clock_drop").empty());
  TestProgram throttled;
  EXPECT_TRUE(of_rule(sampled(throttled, 50, 0x40, 1'400), "clock_drop").empty());
}

TEST(MemoryNearlyFull, ShareOfTheMostThatWasUsed) {
  const auto with_used = [](int64_t used) {
    TestProgram program;
    program.kernel("step", 0, kMs);
    program.metric("memory_total_bytes", 0, 0, 10'000);
    program.metric("memory_used_bytes", 0, 0, used);
    program.metric("memory_used_bytes", 0, kMs, 10);
    return of_rule(program.insights(), "memory_nearly_full");
  };
  EXPECT_TRUE(with_used(9'499).empty());
  ASSERT_EQ(with_used(9'500).size(), 1u);
  EXPECT_EQ(with_used(9'500)[0].severity, Severity::Medium);
  EXPECT_EQ(with_used(9'900)[0].severity, Severity::High);
}

TEST(EccErrors, WhatWasNewInTheSession) {
  const auto with = [](std::string_view metric, int64_t first, int64_t last) {
    TestProgram program;
    program.kernel("step", 0, kMs);
    program.metric(metric, 0, 0, first);
    program.metric(metric, 0, kMs, last);
    return of_rule(program.insights(), "ecc_errors");
  };
  ASSERT_EQ(with("ecc_uncorrected_volatile_count", 3, 4).size(), 1u);
  EXPECT_EQ(with("ecc_uncorrected_volatile_count", 3, 4)[0].title,
            "Memory errors on GPU 0: 1 uncorrected error");
  EXPECT_EQ(with("ecc_uncorrected_volatile_count", 3, 4)[0].severity, Severity::High);
  EXPECT_TRUE(with("ecc_uncorrected_volatile_count", 3, 3).empty());
  EXPECT_EQ(with("ecc_corrected_volatile_count", 0, 10).at(0).severity, Severity::Low);
  EXPECT_TRUE(with("ecc_corrected_volatile_count", 0, 9).empty());
  EXPECT_EQ(with("remapped_rows_failed", 1, 1).at(0).severity, Severity::High);
  EXPECT_EQ(with("remapped_rows_pending", 1, 1).at(0).severity, Severity::Medium);
}

TEST(XidErrors, ByNumber) {
  TestProgram program;
  for (int i = 0; i < 2; ++i) {
    base::Json event = base::Json::object();
    event.set("name", "xid").set("device", 1).set("code", 79).set("time", 5);
    program.data.summary.events.push_back(std::move(event));
  }
  const auto found = of_rule(program.insights(), "xid_errors");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "GPU 1 reported Xid 79 × 2");
  EXPECT_EQ(found[0].severity, Severity::High);
  TestProgram other;
  base::Json event = base::Json::object();
  event.set("name", "cuda_initialised");
  other.data.summary.events.push_back(std::move(event));
  EXPECT_TRUE(of_rule(other.insights(), "xid_errors").empty());
}

TEST(GpuImbalance, TheGpuThatComputesLongest) {
  const auto with = [](int64_t second_ms) {
    TestProgram program;
    program.kernel("step", 0, 100 * kMs, {.device = 0});
    program.kernel("step", 0, second_ms * kMs, {.device = 1});
    return of_rule(program.insights(), "gpu_imbalance");
  };
  ASSERT_EQ(with(60).size(), 1u);
  EXPECT_NEAR(*with(60)[0].gain_ns, 20.0 * kMs, 1);
  EXPECT_EQ(with(60)[0].title,
            "Work of 2 GPUs is uneven · GPU 0 computes 25.0% longer than the mean");
  EXPECT_TRUE(with(81).empty());
}

TEST(GpuImbalance, WaitingForTheOthersIsNoWork) {
  TestProgram program;
  program.kernel("step", 0, 100 * kMs, {.device = 0});
  program.kernel("step", 0, 50 * kMs, {.device = 1});
  program.kernel("ncclDevKernel_AllReduce_Sum_f32", 50 * kMs, 50 * kMs, {.device = 1});
  EXPECT_EQ(of_rule(program.insights(), "gpu_imbalance").size(), 1u);
}

TEST(RankImbalance, TheRankThatComputesLongest) {
  const auto with = [](double share) {
    RunOverview run;
    run.ranks.resize(2);
    for (size_t i = 0; i < 2; ++i) {
      run.ranks[i].rank = static_cast<int64_t>(i);
      run.ranks[i].host = "node";
      run.ranks[i].duration_ns = kS;
    }
    Imbalance compute;
    compute.max = 100.0 * kMs;
    compute.mean = compute.max * (1 - share);
    compute.slowest = 1;
    compute.share = share;
    run.compute = compute;
    return find_run_insights(run);
  };
  ASSERT_EQ(with(0.2).size(), 1u);
  EXPECT_EQ(with(0.2)[0].rule, "rank_imbalance");
  EXPECT_EQ(with(0.2)[0].title,
            "Work of 2 ranks is uneven · rank 1 computes 25.0% longer than the mean");
  EXPECT_NEAR(*with(0.2)[0].gain_ns, 20.0 * kMs, 1);
  EXPECT_TRUE(with(0.049).empty());
  EXPECT_TRUE(find_run_insights(RunOverview{}).empty());
}

TEST(ExposedCommunication, AsFarAsComputationCouldHideIt) {
  const auto with = [](int64_t exposed_ms) {
    TestProgram program;
    program.kernel("step", 0, 100 * kMs);
    program.kernel("ncclDevKernel_AllReduce_Sum_f32", 90 * kMs, (10 + exposed_ms) * kMs,
                   {.stream = 20});
    program.data.summary.duration_ns = kS;
    return of_rule(program.insights(), "exposed_communication");
  };
  ASSERT_EQ(with(50).size(), 1u);
  EXPECT_NEAR(*with(50)[0].gain_ns, 50.0 * kMs, 1);
  EXPECT_NEAR(*with(200)[0].gain_ns, 90.0 * kMs, 1);
  EXPECT_TRUE(with(19).empty());
}

}  // namespace
}  // namespace gpufl::analysis::testing
