// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "analysis/figures/coverage.hpp"
#include "analysis/session/test_tables.hpp"
#include "simulated_program.hpp"

// Shares of kernels in a run that a budget recorded in phases, against what the program did.
namespace gpufl::estimates {
namespace {

using analysis::Estimate;
using analysis::KernelEstimate;
using analysis::testing::TestSession;

// Of its parts' time, kernels take so much.
constexpr double kDearBusy = 0.6, kCheapBusy = 0.9;

struct BudgetedRun {
  std::optional<Estimate> dear;  // share of the kernels' time
  double truth = 0;
  double pooled = 0;  // what all phases together have
};

BudgetedRun simulate(const Alternation& alternation, const Costs& costs, int64_t length_ns,
                     uint64_t seed) {
  SimulatedProgram program(alternation, length_ns, seed);
  TestSession session;
  session.data.summary.duration_ns = length_ns;
  session.data.summary.ended = true;
  session.data.summary.header.overhead_budget_ppm = 20'000;
  double dear_ns = 0, all_ns = 0;
  for (const SimulatedPhase& phase : record(program, costs, length_ns, seed)) {
    session.coverage("Trace", phase.begin_ns, phase.end_ns - phase.begin_ns);
    for (const Part& part : program.within(phase.begin_ns, phase.end_ns)) {
      const double busy = (part.is_dear ? kDearBusy : kCheapBusy) * program.uniform(0.9, 1.1);
      const auto time_ns =
          static_cast<int64_t>(busy * static_cast<double>(part.end_ns - part.begin_ns));
      session.kernel(part.is_dear ? "dear" : "cheap", part.begin_ns, time_ns);
      all_ns += static_cast<double>(time_ns);
      if (part.is_dear) dear_ns += static_cast<double>(time_ns);
    }
  }
  const uint32_t name = session.name("dear");
  const auto estimates = analysis::kernel_estimates(session.finish(), {});
  BudgetedRun run;
  if (estimates) run.dear = estimates->count(name) != 0 ? estimates->at(name).share : Estimate{};
  const double dear = program.dear_ns() * kDearBusy;
  const double cheap = (static_cast<double>(length_ns) - program.dear_ns()) * kCheapBusy;
  run.truth = dear / (dear + cheap);
  run.pooled = dear_ns / all_ns;
  return run;
}

struct Outcome {
  double held = 0;          // share of the seeds with the truth in the bar
  double mean_error = 0;    // of the value
  double mean_reach = 0;    // half of the bar
  double pooled_error = 0;  // of what all phases together have
};

Outcome outcome_of(const Alternation& alternation, const Costs& costs, double hours) {
  constexpr uint64_t kSeeds = 40;
  Outcome outcome;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const BudgetedRun run =
        simulate(alternation, costs, static_cast<int64_t>(hours * 3600) * kSecond, seed);
    if (!run.dear) continue;
    const bool holds = run.dear->low <= run.truth && run.truth <= run.dear->high;
    outcome.held += holds ? 1.0 / kSeeds : 0;
    outcome.mean_error += (run.dear->value - run.truth) / kSeeds;
    outcome.mean_reach += (run.dear->high - run.dear->low) / 2 / kSeeds;
    outcome.pooled_error += (run.pooled - run.truth) / kSeeds;
  }
  return outcome;
}

std::string describe(const Outcome& outcome) {
  return "mean error " + std::to_string(outcome.mean_error) + ", reach " +
         std::to_string(outcome.mean_reach) + ", pooled " + std::to_string(outcome.pooled_error);
}

TEST(BudgetedRunTest, PartsOfMinutesHaveTheirSharesOfTheRun) {
  for (const bool is_regular : {false, true}) {
    for (const Costs& costs : {kTraceCosts, kSamplingCosts}) {
      const Outcome outcome = outcome_of({300, 300, is_regular}, costs, 1);
      EXPECT_GE(outcome.held, 0.9) << describe(outcome);
      EXPECT_LT(std::abs(outcome.mean_error), 0.02) << describe(outcome);
      EXPECT_LT(outcome.mean_reach, 0.15) << describe(outcome);
      EXPECT_LT(outcome.pooled_error, -0.2) << "cheap parts are recorded more";
    }
  }
}

// Parts that are about as long as pauses, or shorter: the pause after a phase has little to do with
// it, but is longer after a dear one.
TEST(BudgetedRunTest, TheBarHoldsHoweverLongThePartsAre) {
  for (const double part_s : {1.0, 10.0, 60.0}) {
    for (const bool is_regular : {false, true}) {
      for (const Costs& costs : {kTraceCosts, kSamplingCosts}) {
        const Outcome outcome = outcome_of({part_s, part_s, is_regular}, costs, 0.5);
        EXPECT_GE(outcome.held, 0.9) << part_s << " s: " << describe(outcome);
        EXPECT_LT(outcome.mean_reach, 0.3) << part_s << " s: " << describe(outcome);
      }
    }
  }
}

TEST(BudgetedRunTest, ARarePartHasItsShareToo) {
  const Outcome outcome = outcome_of({60, 540, false}, kTraceCosts, 2);
  EXPECT_GE(outcome.held, 0.9) << describe(outcome);
  EXPECT_LT(std::abs(outcome.mean_error), 0.01) << describe(outcome);
}

// Each phase has all of the program, as one of short steps, and costs as much.
TEST(BudgetedRunTest, OfASteadyProgramAllPhasesSayTheSame) {
  const Outcome outcome =
      outcome_of({0.02, 0.03, false}, Costs{15'000'000, 25'000'000, 0.1, 0.1}, 0.2);
  EXPECT_GE(outcome.held, 0.9) << describe(outcome);
  EXPECT_LT(std::abs(outcome.mean_error - outcome.pooled_error), 0.001) << describe(outcome);
  EXPECT_LT(outcome.mean_reach, 0.02) << describe(outcome);
}

TEST(BudgetedRunTest, OfOnePhaseNothingIsSaid) {
  const BudgetedRun run = simulate({300, 300, false}, kTraceCosts, kSecond, 1);
  EXPECT_FALSE(run.dear);
}

}  // namespace
}  // namespace gpufl::estimates
