// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/eventually.hpp"
#include "capture/phase_pacer_fixture.hpp"

// Deep windows, over the same backend as other phases.
namespace gpufl::capture::paced {
namespace {

using format::DeepWindowEnd;
using format::DeepWindowOpener;

class DeepWindowPhases : public PhasePacerTest {
 protected:
  void only_windows() {
    config_.deep_windows.is_only = true;
    vendor_.tells_launches = true;
  }
  base::Status open(const DeepWindowRequest& request = {},
                    DeepWindowOpener opener = DeepWindowOpener::Api) {
    return windows_->open(opener, request, recording_->session_now());
  }
  void pass_until_closed() {
    for (int i = 0; i < 10'000 && DeepWindows::is_any_open(); ++i) pass(20 * kMillisecond);
    EXPECT_FALSE(DeepWindows::is_any_open());
  }
  format::Ledger finish_all() {
    const format::Ledger ledger = finish();
    if (const auto window = pacer_->end_window()) write_deep_window(*window, log_);
    return ledger;
  }
  struct WindowRow {
    std::string name, engine, limit, condition;
    DeepWindowOpener opener;
    DeepWindowEnd ending;
    int64_t begin_ns, duration_ns, launches, seen, ignored;
  };
  std::vector<WindowRow> window_rows() const {
    namespace column = format::deep_window_column;
    std::vector<WindowRow> all;
    for (const auto& row : log_.rows(format::Kind::DeepWindow)) {
      all.push_back({log_.text(format::Dict::Name, row[column::kName]),
                     log_.text(format::Dict::Name, row[column::kEngine]),
                     log_.text(format::Dict::Text, row[column::kReason]),
                     log_.text(format::Dict::Text, row[column::kCondition]),
                     static_cast<DeepWindowOpener>(row[column::kOpenedBy]),
                     static_cast<DeepWindowEnd>(row[column::kClosedBy]), row[column::kStart],
                     row[column::kDuration], row[column::kLaunches], row[column::kSeen],
                     row[column::kIgnored]});
    }
    return all;
  }
  std::vector<std::string> engines() const {
    std::vector<std::string> all;
    for (const Row& row : rows()) all.push_back(row.engine);
    return all;
  }
};

using Engines = std::vector<std::string>;

TEST_F(DeepWindowPhases, TheEngineIsAttachedInWindowsOnly) {
  only_windows();
  vendor_.launches_per_s = 1'000;
  start("PcSampling", 0);
  pass(5 * kSecond);
  ASSERT_TRUE(open({kSecond, 0, 0, "slow step"}));
  pass(500 * kMillisecond);
  EXPECT_TRUE(instruments_.deep->window);
  EXPECT_FALSE(open());
  pass_until_closed();
  EXPECT_FALSE(instruments_.deep->window);
  pass(300 * kSecond);
  (void)finish_all();
  EXPECT_EQ(engines(), (Engines{"Trace", "PcSampling", "Trace"}));
  const auto phases = rows();
  EXPECT_EQ(phases[0].why, CoverageReason::Session);
  EXPECT_EQ(phases[0].ending, CoverageEnd::DeepWindow);
  EXPECT_EQ(phases[1].why, CoverageReason::DeepWindow);
  EXPECT_EQ(phases[1].ending, CoverageEnd::DeepWindow);
  EXPECT_EQ(phases[2].why, CoverageReason::Session);
  const auto windows = window_rows();
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0].name, "slow step");
  EXPECT_EQ(windows[0].engine, "PcSampling");
  EXPECT_EQ(windows[0].limit, "");
  EXPECT_EQ(windows[0].ending, DeepWindowEnd::Duration);
  EXPECT_EQ(windows[0].ignored, 1);
  EXPECT_EQ(windows[0].begin_ns, phases[1].begin_ns);
  EXPECT_EQ(windows[0].duration_ns, phases[1].duration_ns);
  EXPECT_EQ(windows[0].launches, phases[1].launches);
  EXPECT_NEAR(static_cast<double>(windows[0].duration_ns), 1e9, 5e7);
}

TEST_F(DeepWindowPhases, ABoundOfLaunchesClosesOne) {
  only_windows();
  vendor_.launches_per_s = 1'000;
  start("PcSampling", 0);
  pass(kSecond);
  ASSERT_TRUE(open({10 * kSecond, 200, 0, ""}));
  pass_until_closed();
  (void)finish_all();
  ASSERT_EQ(window_rows().size(), 1u);
  EXPECT_EQ(window_rows()[0].ending, DeepWindowEnd::Launches);
  EXPECT_GE(window_rows()[0].launches, 200);
  EXPECT_LE(window_rows()[0].launches, 250) << "it is looked at every 20 ms";
}

TEST_F(DeepWindowPhases, OneIsClosedByHandAndOneByTheSessionsEnd) {
  only_windows();
  start("PcSampling", 0);
  pass(kSecond);
  ASSERT_TRUE(open({}, DeepWindowOpener::Control));
  pass(100 * kMillisecond);
  windows_->close(DeepWindowEnd::Api);
  pass_until_closed();
  ASSERT_TRUE(open({}, DeepWindowOpener::Control));
  pass(100 * kMillisecond);
  (void)finish_all();
  const auto windows = window_rows();
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(windows[0].ending, DeepWindowEnd::Api);
  EXPECT_EQ(windows[1].ending, DeepWindowEnd::Session);
  EXPECT_EQ(windows[1].engine, "PcSampling");
  EXPECT_EQ(windows[1].duration_ns, rows().back().duration_ns);
}

TEST_F(DeepWindowPhases, OneOpensAtATimeThatWasSet) {
  only_windows();
  config_.deep_windows.after_ns = 3 * kSecond;
  start("PcSampling", 0);
  pass(60 * kSecond);
  (void)finish_all();
  ASSERT_EQ(window_rows().size(), 1u);
  EXPECT_EQ(window_rows()[0].opener, DeepWindowOpener::After);
  EXPECT_NEAR(static_cast<double>(window_rows()[0].begin_ns), 3e9, 1e8);
}

TEST_F(DeepWindowPhases, ARateThatFallsOpensOne) {
  only_windows();
  config_.deep_windows.when =
      DeepCondition{DeepMetric::KernelLaunchRate, DeepCondition::Order::Less, 100, 2 * kSecond,
                    "kernel_launch_rate<100 for 2s"};
  vendor_.tells_launches = false;
  vendor_.launches = 0;
  start("PcSampling", 0);
  for (int i = 0; i < 250; ++i) {
    vendor_.launches += 10;  // 500 a second
    pass(20 * kMillisecond);
  }
  EXPECT_FALSE(DeepWindows::is_any_open());
  const int64_t slow_ns = g_now;
  for (int i = 0; i < 1'000 && !DeepWindows::is_any_open(); ++i) {
    vendor_.launches += 1;
    pass(20 * kMillisecond);
  }
  EXPECT_NEAR(static_cast<double>(g_now - slow_ns), 2.9e9, 2e8);
  pass_until_closed();
  (void)finish_all();
  ASSERT_EQ(window_rows().size(), 1u);
  EXPECT_EQ(window_rows()[0].opener, DeepWindowOpener::When);
  EXPECT_EQ(window_rows()[0].condition, "kernel_launch_rate<100 for 2s");
  EXPECT_GE(window_rows()[0].seen, 50);
  EXPECT_LT(window_rows()[0].seen, 100);
}

TEST_F(DeepWindowPhases, AGpusLoadOpensOne) {
  only_windows();
  config_.deep_windows.when =
      DeepCondition{DeepMetric::GpuUtilization, DeepCondition::Order::Greater, 90, kSecond, "load"};
  start("PcSampling", 0);
  pass(5 * kSecond);
  EXPECT_FALSE(DeepWindows::is_any_open()) << "it is not known";
  utilization_ = 95;
  pass(2 * kSecond);
  EXPECT_TRUE(DeepWindows::is_any_open());
  (void)finish_all();
  EXPECT_EQ(window_rows().at(0).seen, 95);
}

TEST_F(DeepWindowPhases, CountersAreHadInOneWindowAndOthersSaySo) {
  only_windows();
  vendor_.launches_per_s = 1'000;
  start("Deep", 0);
  pass(5 * kSecond);
  EXPECT_EQ(recording_->phase()->engine, "Trace") << "they wait for a window";
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(open({4 * kSecond, 0, 0, ""}));
    pass_until_closed();
    pass(kSecond);
  }
  (void)finish_all();
  EXPECT_EQ(engines(),
            (Engines{"Trace", "SassMetrics", "PcSampling", "Trace", "PcSampling", "Trace"}));
  const auto windows = window_rows();
  ASSERT_EQ(windows.size(), 2u);
  EXPECT_EQ(windows[0].engine, "SassMetrics");
  EXPECT_EQ(windows[0].limit, "");
  EXPECT_NEAR(static_cast<double>(windows[0].launches),
              static_cast<double>(rows()[1].launches + rows()[2].launches), 1);
  EXPECT_EQ(windows[1].engine, "PcSampling");
  EXPECT_EQ(windows[1].limit, "counted_before");
}

TEST_F(DeepWindowPhases, WithCountersAloneASecondWindowIsTraced) {
  only_windows();
  vendor_.launches_per_s = 1'000;
  start("SassMetrics", 0);
  pass(5 * kSecond);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(open({kSecond, 0, 0, ""}));
    pass_until_closed();
    pass(kSecond);
  }
  (void)finish_all();
  EXPECT_EQ(engines(), (Engines{"Trace", "SassMetrics", "Trace", "Trace", "Trace"}));
  ASSERT_EQ(window_rows().size(), 2u);
  EXPECT_EQ(window_rows()[0].engine, "SassMetrics");
  EXPECT_EQ(window_rows()[1].engine, "Trace");
  EXPECT_EQ(window_rows()[1].limit, "counted_before");
}

TEST_F(DeepWindowPhases, CountersThatAreRefusedAreNamed) {
  only_windows();
  vendor_.launches_per_s = 1'000;
  vendor_.counting_fails = true;
  start("Deep", 0);
  pass(5 * kSecond);
  ASSERT_TRUE(open({kSecond, 0, 0, ""}));
  pass_until_closed();
  (void)finish_all();
  ASSERT_EQ(window_rows().size(), 1u);
  EXPECT_EQ(window_rows()[0].limit, "permission_denied");
  EXPECT_EQ(window_rows()[0].engine, "PcSampling") << "what could be had";
}

TEST_F(DeepWindowPhases, SamplesThatAreRefusedAreNamed) {
  only_windows();
  vendor_.sampling_state = "permission_denied";
  start("PcSampling", 0);
  pass(kSecond);
  ASSERT_TRUE(open({kSecond, 0, 0, ""}));
  pass_until_closed();
  (void)finish_all();
  ASSERT_EQ(window_rows().size(), 1u);
  EXPECT_EQ(window_rows()[0].limit, "permission_denied");
  EXPECT_EQ(window_rows()[0].engine, "Trace");
}

TEST_F(DeepWindowPhases, WhatCannotBeAttachedFailsAndTheRestGoesOn) {
  only_windows();
  start("PcSampling", 0);
  pass(kSecond);
  vendor_.refuses = true;
  ASSERT_TRUE(open());
  pass(100 * kMillisecond);
  vendor_.refuses = false;
  pass_until_closed();
  pass_until(true);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  (void)finish_all();
  ASSERT_EQ(window_rows().size(), 1u);
  EXPECT_EQ(window_rows()[0].ending, DeepWindowEnd::Failure);
  EXPECT_EQ(window_rows()[0].limit, "taken");
  EXPECT_EQ(window_rows()[0].engine, "");
}

TEST_F(DeepWindowPhases, ATracerThatMustStayFailsOne) {
  only_windows();
  start("PcSampling", 0);
  pass(kSecond);
  vendor_.must_stay = true;
  ASSERT_TRUE(open());
  pass_until_closed();
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  (void)finish_all();
  EXPECT_EQ(engines(), (Engines{"Trace"}));
  EXPECT_EQ(window_rows().at(0).limit, "cupti_too_old");
}

TEST_F(DeepWindowPhases, ATracerThatMustStayAfterOneGoesOnWithRecords) {
  only_windows();
  start("PcSampling", 0);
  pass(kSecond);
  ASSERT_TRUE(open({kSecond, 0, 0, ""}));
  pass(500 * kMillisecond);
  vendor_.must_stay = true;
  pass_until_closed();
  pass(10 * kSecond);
  (void)finish_all();
  EXPECT_EQ(engines(), (Engines{"Trace", "PcSampling", "Trace"}));
  EXPECT_EQ(rows()[2].why, CoverageReason::Session);
  EXPECT_EQ(window_rows().at(0).ending, DeepWindowEnd::Duration);
}

TEST_F(DeepWindowPhases, APauseClosesOneAndRefusesOthers) {
  only_windows();
  start("PcSampling", 0);
  pass(kSecond);
  ASSERT_TRUE(open());
  pass(100 * kMillisecond);
  ASSERT_TRUE(pacer_->pause());
  EXPECT_FALSE(DeepWindows::is_any_open());
  const base::Status refused = open();
  EXPECT_TRUE(refused.message().starts_with("paused: ")) << refused.message();
  pass(kSecond);
  ASSERT_TRUE(pacer_->resume());
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  EXPECT_TRUE(open({}, DeepWindowOpener::Control));
  (void)finish_all();
  EXPECT_EQ(window_rows().at(0).ending, DeepWindowEnd::Pause);
}

TEST_F(DeepWindowPhases, ADormantSessionRefusesUntilItIsResumed) {
  only_windows();
  start("PcSampling", 0, true);
  EXPECT_TRUE(open().message().starts_with("paused: "));
  ASSERT_TRUE(pacer_->resume());
  EXPECT_TRUE(open());
  (void)finish_all();
}

TEST_F(DeepWindowPhases, OneLiftsTheBudget) {
  only_windows();
  vendor_.launches_per_s = 40'000;
  start("PcSampling", 0.02);
  pass_until(false);
  ASSERT_TRUE(open({5 * kSecond, 0, 0, ""}));
  pass(100 * kMillisecond);
  ASSERT_TRUE(is_attached());
  EXPECT_EQ(recording_->phase()->engine, "PcSampling");
  pass_until_closed();
  EXPECT_FALSE(is_attached()) << "the budget is spent as before";
  pass_until(true);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  pass_until(false);
  (void)finish_all();
  EXPECT_EQ(engines(), (Engines{"Trace", "PcSampling", "Trace"}));
  EXPECT_EQ(rows()[1].why, CoverageReason::DeepWindow);
  EXPECT_EQ(rows()[2].why, CoverageReason::Budget);
  EXPECT_NEAR(static_cast<double>(rows()[1].duration_ns), 5e9, 1e8);
}

TEST_F(DeepWindowPhases, OneOfASessionThatSamplesAnywayIsAPhaseOfItsOwn) {
  vendor_.tells_launches = true;
  vendor_.launches_per_s = 1'000;
  start("PcSampling", 0);
  pass(kSecond);
  ASSERT_TRUE(open({kSecond, 0, 0, ""}));
  pass_until_closed();
  pass(kSecond);
  (void)finish_all();
  EXPECT_EQ(engines(), (Engines{"PcSampling", "PcSampling", "PcSampling"}));
  EXPECT_EQ(rows()[1].why, CoverageReason::DeepWindow);
  EXPECT_EQ(window_rows().at(0).launches, rows()[1].launches);
  EXPECT_NEAR(static_cast<double>(window_rows().at(0).launches), 1'000, 60);
}

TEST_F(DeepWindowPhases, OneInsideOfADeepScopeHasPhasesOfItsOwn) {
  start("PcSampling", 0.02);
  pass_until(false);
  instruments_.deep->scopes = 1;
  pass(kSecond);
  ASSERT_TRUE(open({kSecond, 0, 0, ""}));
  pass_until_closed();
  EXPECT_TRUE(is_attached()) << "the scope is open still";
  instruments_.deep->scopes = 0;
  pass_until(false);
  (void)finish_all();
  ASSERT_EQ(rows().size(), 4u);
  EXPECT_EQ(rows()[1].why, CoverageReason::DeepScope);
  EXPECT_EQ(rows()[2].why, CoverageReason::DeepWindow);
  EXPECT_EQ(rows()[2].ending, CoverageEnd::DeepWindow);
  EXPECT_EQ(rows()[3].why, CoverageReason::DeepScope);
  EXPECT_EQ(rows()[3].ending, CoverageEnd::DeepScope);
}

TEST_F(DeepWindowPhases, AScopeAttachesNothingWhereTheEngineIsForWindows) {
  only_windows();
  start("PcSampling", 0);
  instruments_.deep->scopes = 1;
  pass(5 * kSecond);
  instruments_.deep->scopes = 0;
  pass(kSecond);
  (void)finish_all();
  EXPECT_EQ(engines(), (Engines{"Trace"}));
}

TEST_F(DeepWindowPhases, NobodyWaitsForALibraryThatDoesNotComeBack) {
  only_windows();
  patience_ = std::chrono::milliseconds(20);
  start("PcSampling", 0);
  pass(kSecond);
  vendor_.hangs_in_start = true;
  ASSERT_TRUE(open());
  pass(DeepWindows::kLongestOpening_ns + kSecond);
  EXPECT_FALSE(DeepWindows::is_any_open());
  vendor_.hangs_in_start = false;
  EXPECT_TRUE(base::eventually([&] {
    pass(20 * kMillisecond);
    const auto phase = recording_->phase();
    return phase && phase->engine == kTraceEngine;
  }));
  (void)finish_all();
  EXPECT_EQ(window_rows().at(0).ending, DeepWindowEnd::Failure);
  EXPECT_EQ(window_rows().at(0).limit, "attaching");
}

}  // namespace
}  // namespace gpufl::capture::paced
