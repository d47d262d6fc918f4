// SPDX-License-Identifier: Apache-2.0
#include "capture/overhead_budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

// A program that is recorded as the budget says, without a clock: what recording costs it is known.
namespace gpufl::capture {
namespace {

constexpr int64_t kSecond = OverheadBudget::kSecond_ns;
constexpr int64_t kMillisecond = 1'000'000;

struct Program {
  int64_t attach_ns = 15 * kMillisecond, detach_ns = 25 * kMillisecond;
  std::function<double(int64_t)> rate = [](int64_t) { return 0.2; };  // by time of the session
};

struct SimulatedPhase {
  int64_t begin_ns, end_ns, cost_ns;
};

struct History {
  std::vector<SimulatedPhase> phases;
  int64_t now_ns = 0;
  double cost_ns = 0;

  double share() const { return cost_ns / static_cast<double>(now_ns); }
  double covered() const {
    int64_t covered = 0;
    for (const SimulatedPhase& phase : phases) covered += phase.end_ns - phase.begin_ns;
    return static_cast<double>(covered) / static_cast<double>(now_ns);
  }
};

History simulate(
    OverheadBudget& budget, const Program& program, int64_t until_ns,
    const std::function<void(const History&)>& after_phase = [](const History&) {}) {
  constexpr int64_t kStep = 20 * kMillisecond;
  History run;
  while (run.now_ns < until_ns) {
    if (run.now_ns < budget.next_begin_ns()) {
      run.now_ns += kStep;
      continue;
    }
    run.now_ns += program.attach_ns;
    PhaseCost cost{program.attach_ns, 0};
    const int64_t begin_ns = run.now_ns;
    do {
      run.now_ns += kStep;
      cost.running_ns += static_cast<int64_t>(program.rate(run.now_ns) * kStep);
    } while (!budget.is_over(run.now_ns, run.now_ns - begin_ns, cost));
    const int64_t end_ns = run.now_ns;
    run.now_ns += program.detach_ns;
    cost.switching_ns += program.detach_ns;
    budget.spend(run.now_ns, end_ns - begin_ns, cost);
    run.cost_ns += static_cast<double>(cost.total_ns());
    run.phases.push_back({begin_ns, end_ns, cost.total_ns()});
    after_phase(run);
  }
  return run;
}

TEST(OverheadBudget, BeginsAtOnceAndShortly) {
  OverheadBudget budget(0.02);
  EXPECT_EQ(budget.next_begin_ns(), 0);
  EXPECT_EQ(budget.phase_ns(), OverheadBudget::kFirst_ns);
  EXPECT_FALSE(budget.is_over(kSecond, kSecond, {0, 0}));
  EXPECT_TRUE(budget.is_over(2 * kSecond, 2 * kSecond, {0, 0}));
  // What ten seconds earn is enough for the first, and even that not before a quarter of a second.
  EXPECT_TRUE(budget.is_over(kSecond, kSecond, {0, 250 * kMillisecond}));
  EXPECT_FALSE(budget.is_over(kSecond, kSecond, {0, 150 * kMillisecond}));
  EXPECT_FALSE(budget.is_over(100 * kMillisecond, 100 * kMillisecond, {kSecond, 0}));
}

TEST(OverheadBudget, IsKeptAndUsed) {
  for (const double share : {0.001, 0.005, 0.02, 0.1}) {
    for (const double rate : {0.05, 0.2, 0.9}) {
      OverheadBudget budget(share);
      Program program;
      program.rate = [&](int64_t) { return rate; };
      const auto run = simulate(budget, program, 36'000 * kSecond, [&](const History& so_far) {
        if (so_far.phases.size() < 2) return;
        ASSERT_LE(so_far.share(), share * 1.02) << "rate " << rate;
      });
      const double most = share / rate < 0.9 ? share : 0;  // else the pauses limit it
      EXPECT_GE(run.share(), most * 0.9) << share << " at " << rate;
    }
  }
}

TEST(OverheadBudget, PhasesHaveTheirLengths) {
  OverheadBudget cheap(0.02), dear(0.02), attaching(0.02);
  Program program;
  program.rate = [](int64_t) { return 0.0; };
  auto run = simulate(cheap, program, 600 * kSecond);
  EXPECT_EQ(cheap.phase_ns(), OverheadBudget::kLongest_ns);
  EXPECT_GT(run.covered(), 0.8) << "what costs nothing is recorded nearly all the time";
  for (size_t i = 1; i < run.phases.size(); ++i) {
    ASSERT_GE(run.phases[i].begin_ns - run.phases[i - 1].end_ns, OverheadBudget::kShortestPause_ns);
  }
  program.rate = [](int64_t) { return 0.5; };
  run = simulate(dear, program, 600 * kSecond);
  EXPECT_EQ(dear.phase_ns(), OverheadBudget::kShortest_ns);
  // As PC sampling is attached: half a second of waiting.
  program.attach_ns = program.detach_ns = 250 * kMillisecond;
  program.rate = [](int64_t) { return 0.2; };
  run = simulate(attaching, program, 3600 * kSecond);
  EXPECT_NEAR(static_cast<double>(attaching.phase_ns()) / kSecond, 2.5, 0.3);
  EXPECT_GT(run.phases.size(), 50u);
}

TEST(OverheadBudget, AProgramThatGetsDearerIsLeftAlone) {
  OverheadBudget budget(0.02);
  Program program;
  program.rate = [](int64_t now_ns) { return now_ns < 600 * kSecond ? 0.02 : 0.8; };
  double most_after = 0;
  simulate(budget, program, 1800 * kSecond, [&](const History& run) {
    if (run.now_ns > 600 * kSecond) most_after = std::max(most_after, run.share());
  });
  EXPECT_LE(most_after, 0.0205);
}

TEST(OverheadBudget, AProgramThatGetsCheaperIsRecordedMore) {
  OverheadBudget budget(0.02);
  Program program;
  program.rate = [](int64_t now_ns) { return now_ns < 600 * kSecond ? 0.8 : 0.01; };
  const History run = simulate(budget, program, 1800 * kSecond);
  double late_ns = 0;
  for (const SimulatedPhase& phase : run.phases) {
    if (phase.begin_ns > 1200 * kSecond)
      late_ns += static_cast<double>(phase.end_ns - phase.begin_ns);
  }
  EXPECT_GT(late_ns / (600.0 * kSecond), 0.7);
  EXPECT_LE(run.share(), 0.0205);
}

// Idle for an hour, then at work: what was not spent is not spent at once.
TEST(OverheadBudget, SavingsAreSmall) {
  OverheadBudget budget(0.02);
  Program program;
  program.rate = [](int64_t now_ns) { return now_ns < 3600 * kSecond ? 0.0 : 0.5; };
  double cost_before = 0, cost_after = 0;
  simulate(budget, program, 3660 * kSecond, [&](const History& run) {
    (run.now_ns < 3600 * kSecond ? cost_before : cost_after) = run.cost_ns;
  });
  // Of this minute, and of the one before; and the phase that was under way.
  EXPECT_LT((cost_after - cost_before) / kSecond, 2 * 0.02 * 60 + 0.5);
}

TEST(OverheadBudget, TriesAgainMoreAndMoreRarely) {
  OverheadBudget budget(0.02);
  int64_t now_ns = 0;
  for (const int64_t seconds : {10, 20, 40, 80, 160, 320, 600, 600}) {
    budget.fail(now_ns, kMillisecond);
    EXPECT_EQ((budget.next_begin_ns() - now_ns) / kSecond, seconds);
    now_ns = budget.next_begin_ns();
  }
  budget.spend(now_ns, kSecond, {kMillisecond, kMillisecond});
  budget.fail(now_ns, kMillisecond);
  EXPECT_EQ((budget.next_begin_ns() - now_ns) / kSecond, 10);
}

TEST(OverheadBudget, OddNumbersBreakNothing) {
  for (const double share : {0.0, -1.0, 5.0}) {
    OverheadBudget budget(share);
    budget.spend(0, 0, {0, 0});
    budget.spend(10, 0, {5, 5});
    budget.spend(5, -3, {0, 0});  // a clock that went back
    EXPECT_GE(budget.next_begin_ns(), 0);
    EXPECT_GE(budget.phase_ns(), OverheadBudget::kShortest_ns);
    EXPECT_LE(budget.phase_ns(), OverheadBudget::kLongest_ns);
  }
}

// Phases that fell in step with a program that repeats itself would always see the same of it.
TEST(OverheadBudget, PausesDifferInLengthAndAreAsLongOnAverage) {
  std::vector<int64_t> begins;
  for (const uint64_t seed : {1, 2}) {
    OverheadBudget budget(0.02, seed);
    const History run = simulate(budget, Program{}, 3600 * kSecond);
    double shortest = 1e18, longest = 0;
    for (size_t i = 2; i < run.phases.size(); ++i) {
      const auto pause = static_cast<double>(run.phases[i].begin_ns - run.phases[i - 1].end_ns);
      shortest = std::min(shortest, pause);
      longest = std::max(longest, pause);
    }
    EXPECT_GT(longest, 5 * shortest);
    // 240 ms each, of which 20 are earned a second.
    EXPECT_NEAR(static_cast<double>(run.phases.size()), 300, 6);
    begins.push_back(run.phases[10].begin_ns);
  }
  EXPECT_NE(begins[0], begins[1]);
}

// What a deep scope costs is not the budget's, but what follows keeps its distance.
TEST(OverheadBudget, RestsWithoutSpending) {
  OverheadBudget budget(0.02);
  budget.spend(2 * kSecond, 2 * kSecond, {0, 0});
  budget.rest(100 * kSecond);
  EXPECT_EQ(budget.next_begin_ns(), 100 * kSecond + OverheadBudget::kShortestPause_ns);
}

TEST(OverheadBudget, APauseInWhichNothingWasDetachedCostsAsMuchAsAPhase) {
  OverheadBudget budget(0.02);
  budget.spend(2 * kSecond, 2 * kSecond, {0, kSecond / 5});
  budget.begin_pause(2 * kSecond, true);
  EXPECT_EQ(budget.next_begin_ns(), 12 * kSecond) << "soon, to try again";
  EXPECT_EQ(budget.end_pause(12 * kSecond), kSecond);
  budget.spend(13 * kSecond, kSecond, {0, kSecond / 10});
  budget.begin_pause(13 * kSecond, true);
  EXPECT_EQ(budget.next_begin_ns(), 33 * kSecond) << "then later";
  (void)budget.end_pause(33 * kSecond);
  budget.spend(34 * kSecond, kSecond, {0, kSecond / 10});
  budget.begin_pause(34 * kSecond, false);
  EXPECT_GT(budget.next_begin_ns(), 150 * kSecond) << "and all of it is paid back";
  EXPECT_EQ(budget.end_pause(200 * kSecond), 0);
  budget.begin_pause(200 * kSecond, true);
  EXPECT_EQ(budget.next_begin_ns(), 210 * kSecond) << "soon again";
}

}  // namespace
}  // namespace gpufl::capture
