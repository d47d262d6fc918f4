// SPDX-License-Identifier: Apache-2.0
// When hardware counters by scope are in the place of records, and when there are records.

#include "capture/phase_pacer_fixture.hpp"

namespace gpufl::capture::paced {
namespace {

class RangingTurns : public PhasePacerTest {
 protected:
  std::string_view engine_after(int64_t passed_ns) {
    pass(passed_ns);
    return recording_->phase()->engine;
  }
  void only_windows() { config_.deep_windows.is_only = true; }
};

TEST_F(RangingTurns, TheTurnComesFirstAndRecordsFollowOnceAllIsCounted) {
  vendor_.launches_per_s = 1'000;
  start("RangeProfiler", 0);
  EXPECT_EQ(engine_after(20 * kMillisecond), "RangeProfiler");
  EXPECT_EQ(engine_after(30 * kSecond), "RangeProfiler") << "scopes want more passes";
  vendor_.has_counted = true;
  EXPECT_EQ(engine_after(40 * kMillisecond), "Trace");
  vendor_.has_counted = false;
  EXPECT_EQ(engine_after(600 * kSecond), "Trace") << "there is one turn";
  const format::Ledger ledger = finish();
  ASSERT_EQ(rows().size(), 2u);
  EXPECT_EQ(rows()[0].engine, "RangeProfiler");
  EXPECT_EQ(rows()[0].measure, format::CostMeasure::Unknown);
  EXPECT_EQ(rows()[1].engine, "Trace");
  EXPECT_GT(ledger.launches_counted.value_or(0), 0u);
  EXPECT_EQ(vendor_.tracers, 0);
}

TEST_F(RangingTurns, ATurnThatNeverGetsAllIsBoundedOnceSomethingWasLaunched) {
  vendor_.launches = 0;
  start("RangeProfiler", 0);
  EXPECT_EQ(engine_after(2 * PhasePacer::kLongestCounting_ns), "RangeProfiler");
  vendor_.launches = 1;
  EXPECT_EQ(engine_after(40 * kMillisecond), "Trace");
}

TEST_F(RangingTurns, WhereCountersAreRefusedThereAreRecordsAtOnce) {
  vendor_.counting_fails = true;
  start("RangeProfiler", 0);
  EXPECT_EQ(engine_after(40 * kMillisecond), "Trace");
  (void)finish();
  EXPECT_EQ(rows().back().engine, "Trace");
}

TEST_F(RangingTurns, ADeepScopeKeepsNoTurnThatHasCounted) {
  start("RangeProfiler", 0);
  instruments_.deep->scopes.store(1);
  EXPECT_EQ(engine_after(kSecond), "RangeProfiler");
  vendor_.has_counted = true;
  EXPECT_EQ(engine_after(40 * kMillisecond), "Trace");
  instruments_.deep->scopes.store(0);
}

TEST_F(RangingTurns, ADeepWindowHasTheTurnWhereThereIsNoneOutside) {
  only_windows();
  vendor_.launches_per_s = 1'000;
  start("RangeProfiler", 0);
  EXPECT_EQ(engine_after(5 * kSecond), "Trace");
  ASSERT_TRUE(windows_->open(format::DeepWindowOpener::Api, {kSecond, 0, 0, ""}, g_now));
  EXPECT_EQ(engine_after(100 * kMillisecond), "RangeProfiler");
  EXPECT_EQ(recording_->phase()->why, CoverageReason::DeepWindow);
  EXPECT_EQ(engine_after(2 * kSecond), "Trace") << "the window has closed";
}

TEST_F(RangingTurns, ABudgetPaysForTheTurn) {
  vendor_.launches_per_s = 1'000;
  start("RangeProfiler", 0.02);
  pass_until(false);
  const int64_t paused_ns = pass_until(true);
  (void)finish();
  const Row row = rows().at(0);
  EXPECT_EQ(row.engine, "RangeProfiler");
  EXPECT_GE(paused_ns, 20 * row.duration_ns) << "as if nothing had run in it";
}

}  // namespace
}  // namespace gpufl::capture::paced
