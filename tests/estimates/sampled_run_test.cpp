// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "analysis/figures/stalls.hpp"
#include "analysis/session/test_tables.hpp"
#include "capture/phase_pacer.hpp"
#include "simulated_program.hpp"

// Shares of samples in a run of which windows were taken, against what the program did.
namespace gpufl::estimates {
namespace {

using analysis::Estimate;
using analysis::SampledFunction;
using analysis::testing::TestSession;
using format::CoverageEnd;
using format::CoverageReason;

constexpr int64_t kWindow_ns = 5'000'000;
const std::string kStall = "smsp__pcsamp_warps_issue_stalled_wait";

struct Sampled {
  TestSession session;
  SimulatedProgram program;
  int64_t length_ns;

  Sampled(const Alternation& alternation, int64_t length, uint64_t seed)
      : program(alternation, length, seed), length_ns(length) {
    session.data.summary.duration_ns = length;
    session.data.summary.ended = true;
    session.data.summary.header.engine = "PcSampling";
  }

  // A thousand samples of what runs then, more or less.
  void window(int64_t start_ns) {
    session.coverage(
        "PcSampling", start_ns, kWindow_ns,
        {.shape = format::CoverageShape::Window, .why = CoverageReason::Schedule, .samples = 1000});
    for (const Part& part : program.within(start_ns, start_ns + kWindow_ns)) {
      const auto samples =
          static_cast<int64_t>(1000 * program.uniform(0.9, 1.1) *
                               static_cast<double>(part.end_ns - part.begin_ns) / kWindow_ns);
      session.pc_sample(part.is_dear ? "dear" : "cheap", 0, kStall, samples,
                        {.time = start_ns + kWindow_ns});
    }
  }
  // As the schedule has it without a budget: a long turn, then a short one of every minute.
  void take_turns() {
    using capture::PhasePacer;
    int64_t now_ns = 0;
    while (now_ns < length_ns) {
      const bool is_first = now_ns == 0;
      const auto windows = is_first ? PhasePacer::kWindowsInFirstTurn : PhasePacer::kWindowsInTurn;
      const int64_t end_ns = std::min(length_ns, now_ns + static_cast<int64_t>(windows) * kSecond);
      session.coverage(
          "PcSampling", now_ns, end_ns - now_ns,
          {.why = is_first ? CoverageReason::Session : CoverageReason::Schedule,
           .ending = end_ns < length_ns ? CoverageEnd::Schedule : CoverageEnd::Session});
      for (int64_t start_ns = now_ns + kSecond / 2; start_ns < end_ns; start_ns += kSecond) {
        window(start_ns);
      }
      now_ns = end_ns + PhasePacer::kBetweenTurns_ns;
      if (end_ns >= length_ns) break;
      const int64_t until_ns = std::min(length_ns, now_ns);
      session.coverage(
          "Trace", end_ns, until_ns - end_ns,
          {.why = CoverageReason::Schedule,
           .ending = until_ns < length_ns ? CoverageEnd::Schedule : CoverageEnd::Session});
    }
  }
  void take_phases(uint64_t seed) {
    session.data.summary.header.overhead_budget_ppm = 20'000;
    for (const SimulatedPhase& phase : record(program, kSamplingCosts, length_ns, seed)) {
      session.coverage("PcSampling", phase.begin_ns, phase.end_ns - phase.begin_ns);
      for (int64_t start_ns = phase.begin_ns + kSecond / 20; start_ns + kWindow_ns < phase.end_ns;
           start_ns += kSecond / 10) {
        window(start_ns);
      }
    }
  }
  analysis::Figure<Estimate> dear() {
    const auto found = analysis::stall_figures(session.finish(), {});
    for (const SampledFunction& function : found->functions) {
      if (function.label == "dear") return function.share;
    }
    return Estimate{};
  }
  double truth() const { return program.dear_ns() / static_cast<double>(length_ns); }
};

// The first part of the program is "dear", and nothing else.
Sampled program_with_start_up(double seconds, int64_t length_ns) {
  Sampled run({1e-9, 1e9, true}, length_ns, 1);
  run.program = SimulatedProgram::of_start_up(static_cast<int64_t>(seconds * 1e9), length_ns);
  return run;
}

TEST(SampledRunTest, TheFirstMinuteIsATenthOfTenMinutes) {
  Sampled run = program_with_start_up(60, 600 * kSecond);
  run.take_turns();
  const auto share = run.dear();
  ASSERT_TRUE(share);
  // It has 40% of the windows. The first pause may have been like it, for all that is known.
  EXPECT_LT(share->value, 0.15);
  EXPECT_LE(share->low, 0.1);
  EXPECT_GE(share->high, 0.1);
}

TEST(SampledRunTest, AStartUpThatEndsInTheFirstTurnIsNoMoreThanItWas) {
  Sampled run = program_with_start_up(30, 600 * kSecond);
  run.take_turns();
  const auto share = run.dear();
  ASSERT_TRUE(share);
  EXPECT_NEAR(share->value, 0.05, 0.002);
}

TEST(SampledRunTest, ShareInTurnsAndInPhasesAreThoseOfTheRun) {
  constexpr uint64_t kSeeds = 40;
  for (const double part_s : {5.0, 60.0, 300.0}) {
    for (const bool is_budgeted : {false, true}) {
      uint64_t held = 0;
      double error = 0;
      for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        Sampled run({part_s, part_s, false}, 3600 * kSecond, seed);
        if (is_budgeted) {
          run.take_phases(seed);
        } else {
          run.take_turns();
        }
        const double truth = run.truth();
        const auto share = run.dear();
        ASSERT_TRUE(share);
        held += share->low <= truth && truth <= share->high ? 1 : 0;
        error += (share->value - truth) / kSeeds;
      }
      EXPECT_GE(held, kSeeds * 9 / 10)
          << part_s << " s, budgeted: " << is_budgeted << ", " << error;
      const double bound = part_s < 60 ? 0.2 : 0.06;
      EXPECT_LT(std::abs(error), bound) << part_s << " s, budgeted: " << is_budgeted;
    }
  }
}

// One attachment that is all of the session: windows alone say how much they differ.
TEST(SampledRunTest, AShortRunIsSampledAllTheTime) {
  Sampled run({0.001, 0.001, false}, 20 * kSecond, 3);
  run.take_turns();
  const auto share = run.dear();
  ASSERT_TRUE(share);
  EXPECT_NEAR(share->value, 0.5, 0.1);
  EXPECT_LT(share->high - share->low, 0.2);
}

TEST(SampledRunTest, OfOneTurnAndALongPauseNothingIsSaid) {
  Sampled run({5, 5, false}, 100 * kSecond, 3);
  run.take_turns();
  const auto share = run.dear();
  ASSERT_FALSE(share);
  EXPECT_EQ(share.unknown().reason, "at least 3 phases or turns with samples are needed");
}

}  // namespace
}  // namespace gpufl::estimates
