// SPDX-License-Identifier: Apache-2.0
// Turns and phases of PC sampling: how long they are, and what they cost.
#include "capture/phase_pacer_fixture.hpp"

namespace gpufl::capture::paced {
namespace {

class SamplingTurns : public PhasePacerTest {
 protected:
  // What is told of sampling that was asked for and is not there.
  std::string lacking() const {
    for (const auto& [kind, line] : log_.objects) {
      if (kind != format::Kind::Capability) continue;
      if (line["asked"].as_string() == "PcSampling") return line["reason"].as_string();
    }
    return "";
  }
};

TEST_F(SamplingTurns, WindowsCostTheTimeThatTheyTake) {
  vendor_.windows = 8;
  vendor_.windows_ns = 40 * kMillisecond;
  start("PcSampling", 0.05);
  pass_until(false);
  (void)finish();
  // Besides what it took to attach and to detach.
  EXPECT_EQ(rows().at(0).cost_ns, (10 + 40 + 20) * kMillisecond);
}

TEST(CountedCost, LaunchesCostMoreWhileSamplingIsEnabled) {
  format::Ledger account;
  account.launches_seen = 1'000;
  const int64_t traced_ns = counted_cost(account, kSecond, 0).running_ns;
  account.sampling_windows = 0;
  EXPECT_EQ(counted_cost(account, kSecond, 0).running_ns,
            traced_ns + 1'000 * kSampledLaunchCost_ns);
}

TEST_F(SamplingTurns, SamplingPhasesWaitForAWindow) {
  vendor_.launches_per_s = 200'000;
  start("PcSampling", 0.02);
  pass(1500 * kMillisecond);
  EXPECT_TRUE(is_attached()) << "more than the first phase may cost, but no window yet";
  vendor_.windows = 1;
  pass(20 * kMillisecond);
  EXPECT_FALSE(is_attached());
  (void)finish();
  EXPECT_EQ(rows()[0].engine, "PcSampling");
}

TEST_F(SamplingTurns, WithoutABudgetOverlappingLaunchesAreSampledNowAndThen) {
  start("PcSampling", 0);
  vendor_.overlaps = true;
  vendor_.windows = 9;
  pass(kSecond);
  EXPECT_EQ(recording_->phase()->engine, "PcSampling");
  vendor_.windows = 10;
  pass(20 * kMillisecond);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  vendor_.windows = 0;
  pass(290 * kSecond);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  pass(20 * kSecond);
  EXPECT_EQ(recording_->phase()->engine, "PcSampling");
  (void)finish();
  ASSERT_EQ(rows().size(), 3u);
  EXPECT_EQ(rows()[0].why, CoverageReason::Session);
  EXPECT_EQ(rows()[0].ending, CoverageEnd::Schedule);
  EXPECT_EQ(rows()[1].why, CoverageReason::Schedule);
  EXPECT_EQ(rows()[2].why, CoverageReason::Schedule);
}

TEST_F(SamplingTurns, WithoutABudgetOneThreadIsSampledForAMinuteAndThenForSomeSecondsInEach) {
  start("PcSampling", 0);
  const auto engine_after = [&](uint64_t windows, int64_t passed_ns) {
    vendor_.windows = windows;
    pass(passed_ns);
    return recording_->phase()->engine;
  };
  EXPECT_EQ(engine_after(59, 59 * kSecond), "PcSampling");
  EXPECT_EQ(engine_after(60, 20 * kMillisecond), "Trace");
  EXPECT_EQ(engine_after(0, 49 * kSecond), "Trace");
  EXPECT_EQ(engine_after(0, 2 * kSecond), "PcSampling");
  EXPECT_EQ(engine_after(9, 9 * kSecond), "PcSampling");
  EXPECT_EQ(engine_after(10, 20 * kMillisecond), "Trace");
}

TEST_F(SamplingTurns, ADeepScopeIsSampledBetweenTurnsToo) {
  start("PcSampling", 0);
  vendor_.overlaps = true;
  vendor_.windows = 10;
  pass(40 * kMillisecond);
  ASSERT_EQ(recording_->phase()->engine, "Trace");
  instruments_.deep->scopes.store(1);
  pass(20 * kMillisecond);
  EXPECT_EQ(recording_->phase()->engine, "PcSampling");
  EXPECT_EQ(recording_->phase()->why, CoverageReason::DeepScope);
  pass(kSecond);
  EXPECT_EQ(recording_->phase()->engine, "PcSampling");
  instruments_.deep->scopes.store(0);
  pass(20 * kMillisecond);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
}

// A program that sits in blocking copies: attempts fail ten times a second.
TEST_F(SamplingTurns, AttemptsThatFailDoNotEndATurnEarly) {
  start("PcSampling", 0);
  const auto engine_after = [&](uint64_t windows, uint64_t skipped, int64_t passed_ns) {
    vendor_.windows = windows;
    vendor_.windows_skipped = skipped;
    pass(passed_ns);
    return recording_->phase()->engine;
  };
  EXPECT_EQ(engine_after(0, 599, 59 * kSecond), "PcSampling");
  EXPECT_EQ(engine_after(0, 600, 20 * kMillisecond), "Trace");
  EXPECT_EQ(engine_after(0, 0, 290 * kSecond), "Trace") << "it was for nothing";
  EXPECT_EQ(engine_after(0, 0, 20 * kSecond), "PcSampling");
  EXPECT_EQ(engine_after(3, 69, kSecond), "PcSampling");
  EXPECT_EQ(engine_after(3, 70, 20 * kMillisecond), "Trace");
  EXPECT_EQ(engine_after(0, 0, 51 * kSecond), "PcSampling");
  (void)finish();
  EXPECT_EQ(lacking(), "no_window");
}

TEST_F(SamplingTurns, AnAttemptThatFailsIsNoWindowToABudget) {
  vendor_.launches_per_s = 200'000;
  start("PcSampling", 0.02);
  vendor_.windows_skipped = 5;
  pass(1500 * kMillisecond);
  EXPECT_TRUE(is_attached());
  EXPECT_LT(pass_until(false), kSecond) << "not for ever";
  (void)finish();
  EXPECT_EQ(lacking(), "no_window");
}

TEST_F(SamplingTurns, WindowsThatFewStepsHaveAreAddedToWhatStepsSay) {
  for (const bool are_few : {true, false}) {
    Slowdown slowdown{0.25, (are_few ? 20 : 200) * kMillisecond};
    const SampledTime sampled{10, 50 * kMillisecond};
    EXPECT_NEAR(static_cast<double>(step_cost_ns(slowdown, kSecond, sampled)),
                (are_few ? 250.0 : 200.0) * kMillisecond, 1.0);
    EXPECT_NEAR(static_cast<double>(step_cost_ns(slowdown, kSecond, {})), 200.0 * kMillisecond,
                1.0);
  }
  vendor_.windows = 8;
  vendor_.windows_ns = 40 * kMillisecond;
  start("PcSampling", 0.05);
  recording_->set_slowdown(Slowdown{0.25, 20 * kMillisecond});
  pass_until(false);
  (void)finish();
  const Row row = rows().at(0);
  EXPECT_EQ(row.measure, format::CostMeasure::Steps);
  EXPECT_NEAR(static_cast<double>(row.cost_ns),
              static_cast<double>(row.duration_ns) * 0.2 + (40 + 30) * kMillisecond, kMillisecond);
}

}  // namespace
}  // namespace gpufl::capture::paced
