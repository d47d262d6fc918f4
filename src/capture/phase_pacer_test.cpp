// SPDX-License-Identifier: Apache-2.0
#include "capture/phase_pacer.hpp"

#include <gtest/gtest.h>

#include "base/eventually.hpp"
#include "capture/phase_pacer_fixture.hpp"

namespace gpufl::capture::paced {
namespace {

TEST_F(PhasePacerTest, AlternatesWithinTheBudget) {
  vendor_.launches_per_s = 40'000;  // 5 µs each: a fifth of the time
  start("Trace", 0.02);
  pass(120 * kSecond);
  const format::Ledger ledger = finish();
  const auto all = rows();
  ASSERT_GT(all.size(), 5u);
  EXPECT_EQ(ledger.phases, all.size());
  int64_t attached_ns = 0, cost_ns = 0;
  for (const Row& row : all) {
    EXPECT_EQ(row.engine, "Trace");
    EXPECT_EQ(row.why, CoverageReason::Budget);
    EXPECT_EQ(row.ending, &row == &all.back() ? row.ending : CoverageEnd::Budget);
    EXPECT_EQ(row.measure, format::CostMeasure::Calls);
    EXPECT_EQ(row.launches, row.duration_ns / kMillisecond * 40);
    EXPECT_NEAR(static_cast<double>(row.cost_ns),
                static_cast<double>(row.duration_ns) * 0.2 + 30 * kMillisecond, kMillisecond);
    attached_ns += row.duration_ns;
    cost_ns += row.cost_ns;
  }
  EXPECT_EQ(ledger.attached_ns, static_cast<uint64_t>(attached_ns));
  EXPECT_LE(static_cast<double>(cost_ns) / static_cast<double>(g_now.load()), 0.021);
  EXPECT_GE(static_cast<double>(cost_ns) / static_cast<double>(g_now.load()), 0.016);
  EXPECT_EQ(all.front().begin_ns, 10 * kMillisecond);
}

TEST_F(PhasePacerTest, LaunchesThatWereHeldCostToo) {
  vendor_.launches_per_s = 40'000;
  vendor_.held_ns = 400 * kMillisecond;
  vendor_.windows = 1;
  start("PcSampling", 0.02);
  pass(300 * kSecond);
  (void)finish();
  double cost_ns = 0;
  for (const Row& row : rows()) {
    EXPECT_GE(row.cost_ns, std::min(400 * kMillisecond, row.duration_ns));
    cost_ns += static_cast<double>(row.cost_ns);
  }
  EXPECT_LE(cost_ns / static_cast<double>(g_now.load()), 0.021);
  EXPECT_GE(cost_ns / static_cast<double>(g_now.load()), 0.016);
  // As long as what it takes to be attached is worth.
  EXPECT_NEAR(static_cast<double>(rows().at(2).duration_ns) / kSecond, 2.15, 0.2);
}

TEST_F(PhasePacerTest, WhatStepsSayGoesBeforeWhatIsCounted) {
  vendor_.launches_per_s = 4'000;
  start("Trace", 0.02);
  recording_->set_slowdown(Slowdown{0.25, 20 * kMillisecond});
  pass_until(false);
  (void)finish();
  const Row row = rows().at(0);
  EXPECT_EQ(row.measure, format::CostMeasure::Steps);
  EXPECT_NEAR(static_cast<double>(row.cost_ns),
              static_cast<double>(row.duration_ns) * 0.2 + 30 * kMillisecond, kMillisecond);
}

TEST_F(PhasePacerTest, TheLastPhaseEndsWithTheSession) {
  start("Trace", 0.02);
  pass(100 * kMillisecond);
  (void)finish();
  ASSERT_EQ(rows().size(), 1u);
  EXPECT_EQ(rows()[0].ending, CoverageEnd::Session);
  EXPECT_EQ(rows()[0].why, CoverageReason::Budget);
  EXPECT_EQ(rows()[0].duration_ns, 100 * kMillisecond);
}

TEST_F(PhasePacerTest, APauseByHandWins) {
  start("Trace", 0.1);
  pass_until(false);
  pass_until(true);
  ASSERT_TRUE(pacer_->pause());
  EXPECT_EQ(recording_->state(), "paused");
  pass(600 * kSecond);
  EXPECT_FALSE(is_attached());
  instruments_.deep->scopes = 1;
  pass(kSecond);
  EXPECT_FALSE(is_attached()) << "not for a deep scope either";
  instruments_.deep->scopes = 0;
  ASSERT_TRUE(pacer_->resume());
  EXPECT_TRUE(is_attached());
  pass_until(false);
  pass_until(true);
  (void)finish();
  const auto all = rows();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].ending, CoverageEnd::Request);
  EXPECT_EQ(all[2].why, CoverageReason::Request);
  EXPECT_EQ(all[2].ending, CoverageEnd::Budget);
  EXPECT_EQ(all[3].why, CoverageReason::Budget);
}

TEST_F(PhasePacerTest, APauseBetweenPhasesIsOne) {
  vendor_.launches_per_s = 40'000;
  start("Trace", 0.02);
  pass_until(false);
  ASSERT_TRUE(pacer_->pause());
  ASSERT_TRUE(pacer_->pause());
  pass(600 * kSecond);
  EXPECT_EQ(vendor_.tracers, 0);
  (void)finish();
  EXPECT_EQ(rows().size(), 1u);
}

TEST_F(PhasePacerTest, DormantUntilResumed) {
  start("Trace", 0.1, true);
  pass(60 * kSecond);
  EXPECT_FALSE(is_attached());
  ASSERT_TRUE(pacer_->resume());
  pass_until(false);
  pass_until(true);
  (void)finish();
  EXPECT_EQ(rows()[0].why, CoverageReason::Request);
  EXPECT_EQ(rows()[1].why, CoverageReason::Budget);
}

TEST_F(PhasePacerTest, ADeepScopeLiftsTheBudget) {
  vendor_.launches_per_s = 100'000;  // half of the time
  start("Trace", 0.01);
  pass_until(false);
  const int64_t rest_ns = pass_until(true);
  pass_until(false);
  instruments_.deep->scopes = 1;
  pass(20 * kMillisecond);
  EXPECT_TRUE(is_attached()) << "at once";
  pass(30 * kSecond);
  EXPECT_TRUE(is_attached()) << "and as long as it takes";
  instruments_.deep->scopes = 0;
  pass(40 * kMillisecond);
  EXPECT_FALSE(is_attached());
  EXPECT_LE(pass_until(true), rest_ns + kSecond) << "what it cost is not paid back";
  (void)finish();
  ASSERT_EQ(rows().size(), 4u);
  EXPECT_EQ(rows()[2].why, CoverageReason::DeepScope);
  EXPECT_EQ(rows()[2].ending, CoverageEnd::DeepScope);
  EXPECT_GE(rows()[2].duration_ns, 30 * kSecond);
}

TEST_F(PhasePacerTest, ADeepScopeKeepsAPhaseGoing) {
  vendor_.launches_per_s = 100'000;
  start("Trace", 0.02);
  pass(100 * kMillisecond);
  instruments_.deep->scopes = 2;
  pass(30 * kSecond);
  EXPECT_TRUE(is_attached());
  instruments_.deep->scopes = 1;
  pass(kSecond);
  EXPECT_TRUE(is_attached());
  instruments_.deep->scopes = 0;
  pass(40 * kMillisecond);
  EXPECT_FALSE(is_attached());
  EXPECT_LT(pass_until(true), 60 * kSecond) << "the budget pays for the first tenth of a second";
  const format::Ledger ledger = finish();
  const auto all = rows();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(ledger.phases, 3u);
  EXPECT_EQ(all[0].why, CoverageReason::Budget);
  EXPECT_EQ(all[0].ending, CoverageEnd::DeepScope);
  EXPECT_LT(all[0].duration_ns, kSecond) << "no part of the deep scope is a turn of the budget";
  EXPECT_EQ(all[1].why, CoverageReason::DeepScope);
  EXPECT_EQ(all[1].ending, CoverageEnd::DeepScope);
  EXPECT_EQ(all[1].begin_ns, all[0].begin_ns + all[0].duration_ns);
  EXPECT_GE(all[1].duration_ns, 30 * kSecond);
  for (const Row& row : {all[0], all[1]}) {
    EXPECT_EQ(row.launches, row.duration_ns / kMillisecond * 100);
    EXPECT_NEAR(static_cast<double>(row.cost_ns), static_cast<double>(row.duration_ns) * 0.5,
                30 * kMillisecond);
  }
}

TEST_F(PhasePacerTest, AProgramThatIsKilledInADeepScopeSaysWhenThatBegan) {
  start("Trace", 0.02);
  pass(100 * kMillisecond);
  instruments_.deep->scopes = 1;
  pass(kSecond);
  (void)finish();
  std::vector<std::string> told;
  for (const auto& [kind, line] : log_.objects) {
    if (kind == format::Kind::Event) {
      told.push_back(line["name"].as_string() + ", " + line["why"].as_string());
    }
  }
  const std::vector<std::string> expected{"recording_paused, deep scope",
                                          "recording_resumed, deep scope"};
  EXPECT_EQ(told, expected);
}

TEST_F(PhasePacerTest, ATracerThatCannotStopNowIsAskedAgain) {
  start("Trace", 0.02);
  vendor_.is_busy = true;
  pass(20 * kSecond);
  EXPECT_TRUE(is_attached());
  vendor_.is_busy = false;
  pass(20 * kMillisecond);
  EXPECT_FALSE(is_attached());
}

TEST_F(PhasePacerTest, APauseByHandWaitsForATracerThatCannotStopNow) {
  start("Trace", 0.02);
  vendor_.is_busy = true;
  base::Status paused;
  std::thread hand([&] { paused = pacer_->pause(); });
  vendor_.is_busy = false;
  hand.join();
  EXPECT_TRUE(paused);
  EXPECT_FALSE(is_attached());
}

TEST_F(PhasePacerTest, WhatEveryPhaseLacksIsSaidOnce) {
  vendor_.samples_available = false;
  start("PcSampling", 0.5);
  for (int i = 0; i < 5; ++i) {
    pass_until(false);
    pass_until(true);
  }
  (void)finish();
  int told = 0;
  for (const auto& [kind, line] : log_.objects) {
    if (kind != format::Kind::Capability) continue;
    ++told;
    EXPECT_EQ(line["got"].as_string(), "Trace");
    EXPECT_EQ(line["reason"].as_string(), "permission_denied");
  }
  EXPECT_EQ(told, 1);
  for (const Row& row : rows()) EXPECT_EQ(row.engine, "Trace");
}

TEST_F(PhasePacerTest, ATracerThatMustStayEndsTheBudgetAndSaysSo) {
  vendor_.must_stay = true;
  start("Trace", 0.015);
  pass(60 * kSecond);
  EXPECT_TRUE(is_attached());
  (void)finish();
  int told = 0;
  for (const auto& [kind, line] : log_.objects) {
    if (kind != format::Kind::Capability || line["feature"].as_string() != "overhead_budget")
      continue;
    ++told;
    EXPECT_EQ(line["asked"].as_string(), "1.5%");
    EXPECT_EQ(line["got"].as_string(), "none");
    EXPECT_EQ(line["reason"].as_string(), "cupti_too_old");
  }
  EXPECT_EQ(told, 1);
  ASSERT_EQ(rows().size(), 1u);
}

// Else launches of several threads would wait for each other for good.
class EndOfSampling : public PhasePacerTest, public testing::WithParamInterface<double> {};

TEST_P(EndOfSampling, ComesWithATracerThatMustStay) {
  vendor_.must_stay = true;
  vendor_.overlaps = true;
  vendor_.windows = 10;
  start("PcSampling", GetParam());
  pass(600 * kSecond);
  EXPECT_TRUE(vendor_.has_ended_sampling);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  instruments_.deep->scopes = 1;
  pass(kSecond);
  EXPECT_TRUE(is_attached());
  (void)finish();
  int told = 0, events = 0;
  for (const auto& [kind, line] : log_.objects) {
    events += kind == format::Kind::Event && line["name"].as_string() == "sampling_ended" ? 1 : 0;
    if (kind != format::Kind::Capability) continue;
    if (line["feature"].as_string() != "profiling_engine") continue;
    ++told;
    EXPECT_EQ(line["got"].as_string(), "Trace");
    EXPECT_EQ(line["reason"].as_string(), "cupti_too_old");
  }
  EXPECT_EQ(told, 1);
  EXPECT_EQ(events, 1);
  const auto all = rows();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].engine, "PcSampling");
  EXPECT_EQ(all[0].ending, CoverageEnd::Failure);
  EXPECT_EQ(all[1].engine, "Trace");
  EXPECT_EQ(all[1].why, all[0].why);
  EXPECT_EQ(all[1].begin_ns, all[0].begin_ns + all[0].duration_ns);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutABudget, EndOfSampling, testing::Values(0.015, 0.0));

TEST_F(PhasePacerTest, APauseInWhichTheLibraryStaysIsPaidFor) {
  vendor_.launches_per_s = 40'000;  // a fifth of the time
  vendor_.stays_attached = true;
  start("Trace", 0.02);
  pass_until(false);
  const int64_t pause_ns = pass_until(true);
  EXPECT_NEAR(static_cast<double>(pause_ns), 10.0 * kSecond, kSecond) << "tried again soon";
  vendor_.stays_attached = false;
  pass_until(false);
  EXPECT_GT(pass_until(true), 60 * kSecond) << "what it cost is paid back once it is really gone";
  (void)finish();
  const auto all = rows();
  ASSERT_GE(all.size(), 2u);
  EXPECT_NEAR(static_cast<double>(all[1].cost_ns),
              0.2 * static_cast<double>(all[1].duration_ns + pause_ns), 0.2 * kSecond);
}

TEST_F(PhasePacerTest, WithoutABudgetWhatCouldNotBeAttachedIsTriedAgainSoon) {
  start("PcSampling", 0);
  vendor_.overlaps = true;
  vendor_.windows = 10;
  vendor_.refuses = true;
  pass(kSecond);
  EXPECT_FALSE(is_attached());
  vendor_.refuses = false;
  EXPECT_LT(pass_until(true), 11 * kSecond) << "records are to be continuous";
  EXPECT_EQ(recording_->phase()->engine, "Trace") << "and it is their turn";
  vendor_.windows = 0;
  pass(280 * kSecond);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  vendor_.refuses = true;
  instruments_.deep->scopes = 1;
  pass(kSecond);
  EXPECT_FALSE(is_attached());
  vendor_.refuses = false;
  EXPECT_LT(pass_until(true), 11 * kSecond);
}

TEST_F(PhasePacerTest, NobodyWaitsForALibraryThatDoesNotComeBack) {
  patience_ = std::chrono::milliseconds(40);
  start("Trace", 0.1);
  pass_until(false);
  vendor_.hangs_in_start = true;
  pass(600 * kSecond);
  EXPECT_TRUE(recording_->is_attaching());
  EXPECT_FALSE(pacer_->resume());
  EXPECT_TRUE(pacer_->pause());
  EXPECT_EQ(recording_->state(), "paused");
  EXPECT_FALSE(pacer_->resume());
  vendor_.hangs_in_start = false;
  EXPECT_TRUE(base::eventually([&] { return is_attached(); }));
  pass_until(false);
  vendor_.hangs_in_start = true;
  pass(600 * kSecond);
  EXPECT_TRUE(recording_->is_attaching());
  vendor_.refuses = true;
  vendor_.hangs_in_start = false;
  EXPECT_TRUE(base::eventually([&] { return !recording_->is_attaching(); }));
  vendor_.refuses = false;
  pass_until(true);
  vendor_.hangs_in_start = true;
  pass_until(false);
  pass(600 * kSecond);
  EXPECT_TRUE(pacer_->stop()) << "its thread is its own again";
  EXPECT_FALSE(recording_->stop(std::chrono::milliseconds(20)));
  vendor_.hangs_in_start = false;
}

TEST_F(PhasePacerTest, TheEndDoesNotWaitForATracerThatDoesNotStop) {
  patience_ = std::chrono::milliseconds(40);
  start("Trace", 0.1);
  vendor_.hangs_in_stop = true;
  g_now = 60 * kSecond;
  ASSERT_TRUE(pacer_->start());
  ASSERT_TRUE(base::eventually([&] { return vendor_.is_in_stop.load(); }));
  EXPECT_FALSE(pacer_->pause());
  EXPECT_FALSE(pacer_->resume());
  EXPECT_FALSE(pacer_->stop()) << "it has to be kept";
  vendor_.hangs_in_stop = false;
}

TEST_F(PhasePacerTest, WhatCannotBeAttachedIsTriedAgainLater) {
  start("Trace", 0.1);
  pass_until(false);
  vendor_.refuses = true;
  pass(25 * kSecond);
  EXPECT_FALSE(is_attached());
  EXPECT_EQ(recording_->state(), "taken");
  vendor_.refuses = false;
  EXPECT_GT(pass_until(true), kSecond);
}

TEST_F(PhasePacerTest, CountersTakeOneTurnBetweenRecords) {
  start("SassMetrics", 0);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  pass(600 * kSecond);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  (void)finish();
  const auto all = rows();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].ending, CoverageEnd::Schedule);
  EXPECT_NEAR(static_cast<double>(all[0].duration_ns),
              static_cast<double>(PhasePacer::kBeforeCounting_ns), 50.0 * kMillisecond);
  EXPECT_EQ(all[1].engine, "SassMetrics");
  EXPECT_EQ(all[1].why, CoverageReason::Schedule);
  EXPECT_NEAR(static_cast<double>(all[1].duration_ns),
              static_cast<double>(PhasePacer::kCountingTurn_ns), 50.0 * kMillisecond);
  EXPECT_EQ(all[1].measure, format::CostMeasure::Unknown);
  EXPECT_EQ(all[1].cost_ns, -1);
  EXPECT_EQ(all[2].engine, "Trace");
}

TEST_F(PhasePacerTest, CountersWaitForTheProgramToGetGoing) {
  vendor_.launches = 0;
  start("SassMetrics", 0);
  pass(10 * kSecond);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  vendor_.launches = 1;
  pass(600 * kMillisecond);
  EXPECT_EQ(recording_->phase()->engine, "SassMetrics");
  vendor_.launches = 0;
  pass(10 * kSecond);
  EXPECT_EQ(recording_->phase()->engine, "SassMetrics") << "nothing was launched";
}

TEST_F(PhasePacerTest, WhatCannotCountRecords) {
  vendor_.counting_fails = true;
  start("SassMetrics", 0);
  pass(600 * kSecond);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  (void)finish();
  ASSERT_EQ(rows().size(), 3u);
  EXPECT_EQ(rows()[1].engine, "Trace");
  EXPECT_LE(rows()[1].duration_ns, 40 * kMillisecond);
}

TEST_F(PhasePacerTest, DeepSamplesBeforeAndAfterItsCounters) {
  start("Deep", 0);
  EXPECT_EQ(recording_->phase()->engine, "PcSampling");
  pass(1400 * kMillisecond);
  EXPECT_EQ(recording_->phase()->engine, "PcSampling");
  pass(200 * kMillisecond);
  EXPECT_EQ(recording_->phase()->engine, "SassMetrics");
  pass(2100 * kMillisecond);
  EXPECT_EQ(recording_->phase()->engine, "PcSampling");
  pass(10 * kSecond);
  EXPECT_EQ(recording_->phase()->engine, "PcSampling");
}

TEST_F(PhasePacerTest, TheTurnOfCountersLastsForAsLongAsADeepScopeIsOpen) {
  start("SassMetrics", 0);
  instruments_.deep->scopes = 1;
  pass(400 * kMillisecond);
  EXPECT_EQ(recording_->phase()->engine, "Trace") << "first it has to get going";
  pass(200 * kMillisecond);
  EXPECT_EQ(recording_->phase()->engine, "SassMetrics");
  EXPECT_EQ(recording_->phase()->why, CoverageReason::DeepScope);
  pass(30 * kSecond);
  EXPECT_EQ(recording_->phase()->engine, "SassMetrics");
  instruments_.deep->scopes = 0;
  pass(40 * kMillisecond);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
  instruments_.deep->scopes = 1;
  pass(10 * kSecond);
  EXPECT_EQ(recording_->phase()->engine, "Trace") << "CUPTI counts once in a process";
}

TEST_F(PhasePacerTest, ADeepScopeWithoutAnEndIsNotCountedForEver) {
  start("SassMetrics", 0);
  instruments_.deep->scopes = 1;
  pass(120 * kSecond);
  EXPECT_EQ(recording_->phase()->engine, "Trace");
}

TEST_F(PhasePacerTest, ABudgetCapsTheShareOfTheRunUnderCounters) {
  vendor_.launches_per_s = 4'000;
  start("SassMetrics", 0.1);
  pass(300 * kSecond);
  (void)finish();
  size_t counted = 0;
  int64_t cost_ns = 0;
  for (const Row& row : rows()) {
    EXPECT_EQ(row.why, CoverageReason::Budget);
    const bool counts = row.engine == "SassMetrics";
    counted += counts ? 1 : 0;
    cost_ns += counts ? row.duration_ns : row.cost_ns;
  }
  EXPECT_EQ(counted, 1u);
  EXPECT_LE(static_cast<double>(cost_ns) / static_cast<double>(g_now.load()), 0.11);
}

TEST_F(PhasePacerTest, EndsWhileItsThreadRuns) {
  start("Trace", 0.5);
  ASSERT_TRUE(pacer_->start());
  EXPECT_TRUE(base::eventually([&] {
    g_now += 100 * kMillisecond;
    return vendor_.tracers == 0;
  }));
  (void)pacer_->pause();
  (void)pacer_->resume();
  pacer_->stop();
  pacer_->stop();
  EXPECT_TRUE(is_attached());
}

}  // namespace
}  // namespace gpufl::capture::paced
