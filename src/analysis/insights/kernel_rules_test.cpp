// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "analysis/insights/test_program.hpp"

namespace gpufl::analysis::testing {
namespace {

LaunchConfig config_of(int64_t blocks, int64_t blocks_per_sm) {
  LaunchConfig config;
  config.grid = {blocks, 1, 1};
  config.block = {256, 1, 1};
  config.registers = 255;
  config.occupancy = 0.125;
  config.occupancy_bound = "registers";
  config.occupancy_bounds = {{"registers", blocks_per_sm}, {"waves", 8}};
  return config;
}

// One kernel of 100 ms in a session of `wall_ms`, on a GPU with 132 multiprocessors.
std::vector<Insight> one_kernel(TestProgram& program, LaunchConfig config, int64_t wall_ms = 200,
                                std::string_view name = "custom") {
  program.device_fact(0, "compute_units", 132);
  program.kernel(program.config(name, std::move(config)), 0, 100 * kMs);
  program.data.summary.duration_ns = wall_ms * kMs;
  return program.insights();
}

void sample(TestProgram& program, std::string_view kernel,
            const std::vector<std::pair<std::string, int64_t>>& stalls) {
  format::Batch batch(format::Kind::PcSample);
  for (const auto& [stall, samples] : stalls) {
    batch.push_row(
        {0, 0, 1, 1, program.name(kernel), 0, program.metric_name(stall), samples, 0, 0});
  }
  program.data.tables.others.emplace(format::Kind::PcSample, std::move(batch));
}

void count(TestProgram& program, std::string_view kernel,
           const std::vector<std::pair<std::string, int64_t>>& values) {
  format::Batch batch(format::Kind::SassMetric);
  for (const auto& [metric, value] : values) {
    batch.push_row({0, 0, 1, 1, program.name(kernel), 0, program.metric_name(metric), value, 0, 0});
  }
  program.data.tables.others.emplace(format::Kind::SassMetric, std::move(batch));
}

constexpr const char* kLongScoreboard = "smsp__pcsamp_warps_issue_stalled_long_scoreboard";
constexpr const char* kSelected = "smsp__pcsamp_warps_issue_stalled_selected";

TEST(LowOccupancy, WithItsLimiter) {
  TestProgram program;
  const auto found = of_rule(one_kernel(program, config_of(10'000, 1)), "low_occupancy");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Low occupancy of custom · 12.5%, limited by registers (255 per thread)");
  EXPECT_FALSE(found[0].gain_ns);
  EXPECT_NE(found[0].estimate.find("PcSampling"), std::string::npos);
}

TEST(LowOccupancy, ShowsTheLongestLaunch) {
  TestProgram program;
  program.device_fact(0, "compute_units", 132);
  const uint32_t config = program.config("custom", config_of(10'000, 1));
  program.kernel(config, 10 * kMs, 20 * kMs);
  program.kernel(config, 50 * kMs, 70 * kMs);
  program.kernel(config, 130 * kMs, 10 * kMs);
  program.data.summary.duration_ns = 200 * kMs;
  const auto found = of_rule(program.insights(), "low_occupancy");
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].evidence.size(), 1u);
  EXPECT_EQ(found[0].evidence[0].text, "3 launches, the longest 70.00 ms");
  EXPECT_EQ(found[0].evidence[0].start_ns, 50 * kMs);
  EXPECT_EQ(found[0].evidence[0].end_ns, 120 * kMs);
}

TEST(LowOccupancy, GainFromWarpsThatWait) {
  TestProgram program;
  sample(program, "custom", {{kLongScoreboard, 800}, {kSelected, 200}});
  const auto found = of_rule(one_kernel(program, config_of(10'000, 1)), "low_occupancy");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(*found[0].gain_ns, 100.0 * kMs * 0.8 * (1 - 0.125 / 0.5), 1);
}

TEST(LowOccupancy, OnlyWhereItCostsTime) {
  TestProgram matrix_product;
  EXPECT_TRUE(of_rule(one_kernel(matrix_product, config_of(10'000, 1), 200, "cutlass_gemm_kernel"),
                      "low_occupancy")
                  .empty());
  TestProgram issuing;
  sample(issuing, "custom", {{kLongScoreboard, 300}, {kSelected, 700}});
  EXPECT_TRUE(of_rule(one_kernel(issuing, config_of(10'000, 1)), "low_occupancy").empty());
  TestProgram one_wave;
  EXPECT_TRUE(of_rule(one_kernel(one_wave, config_of(132, 1)), "low_occupancy").empty());
  TestProgram rare;
  EXPECT_TRUE(of_rule(one_kernel(rare, config_of(10'000, 1), 2'001), "low_occupancy").empty());
  TestProgram enough;
  LaunchConfig config = config_of(10'000, 1);
  config.occupancy = 0.26;
  EXPECT_TRUE(of_rule(one_kernel(enough, std::move(config)), "low_occupancy").empty());
}

TEST(RegisterSpill, LocalMemory) {
  TestProgram program;
  LaunchConfig config = config_of(10'000, 1);
  config.local_per_thread = 16;
  auto found = of_rule(one_kernel(program, config), "register_spill");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Local memory in custom · 16 bytes per thread");
  EXPECT_FALSE(found[0].gain_ns);
  TestProgram deep;
  sample(deep, "custom", {{kLongScoreboard, 500}, {kSelected, 500}});
  count(deep, "custom",
        {{"smsp__sass_sectors_mem_local", 100}, {"smsp__sass_sectors_mem_global", 300}});
  found = of_rule(one_kernel(deep, config), "register_spill");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(*found[0].gain_ns, 100.0 * kMs * 0.5 * 0.25, 1);
}

TEST(RegisterSpill, NotForLittleOrRarely) {
  LaunchConfig config = config_of(10'000, 1);
  config.local_per_thread = 8;
  TestProgram little;
  EXPECT_TRUE(of_rule(one_kernel(little, config), "register_spill").empty());
  config.local_per_thread = 512;
  TestProgram rare;
  EXPECT_TRUE(of_rule(one_kernel(rare, config, 5'001), "register_spill").empty());
}

TEST(TailEffect, LastWaveMostlyEmpty) {
  TestProgram program;
  // 264 at once: 1.1 waves take two.
  const auto found = of_rule(one_kernel(program, config_of(290, 2)), "tail_effect");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Tail effect in custom · 1.10 waves, the last 9.8% full");
  EXPECT_NEAR(*found[0].gain_ns, 100.0 * kMs * (1 - 290.0 / 528), 1);
}

TEST(TailEffect, NotForWholeWavesManyWavesOrUnknownGpus) {
  for (const int64_t blocks : {264, 528, 264 * 9 + 1, 430}) {  // 430: 1.63 waves leave 18.6%
    TestProgram program;
    EXPECT_TRUE(of_rule(one_kernel(program, config_of(blocks, 2)), "tail_effect").empty())
        << blocks;
  }
  TestProgram unknown;
  LaunchConfig config = config_of(290, 2);
  config.occupancy_bounds.clear();
  EXPECT_TRUE(of_rule(one_kernel(unknown, std::move(config)), "tail_effect").empty());
}

TEST(PartialWave, FewerBlocksThanMultiprocessors) {
  TestProgram program;
  const auto found = of_rule(one_kernel(program, config_of(66, 2)), "partial_wave");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Partial wave of custom · 66 of 132 multiprocessors used");
  EXPECT_NEAR(*found[0].gain_ns, 50.0 * kMs, 1);
  TestProgram more;
  EXPECT_TRUE(of_rule(one_kernel(more, config_of(67, 2)), "partial_wave").empty());
  TestProgram exchange;
  EXPECT_TRUE(
      of_rule(one_kernel(exchange, config_of(24, 2), 200, "ncclDevKernel_AllReduce_Sum_bf16"),
              "partial_wave")
          .empty());
}

// GPUs work at the same time: eight that do the same save what one of them does.
TEST(PartialWave, OfSeveralGpusTheLongestCounts) {
  TestProgram program;
  const uint32_t config = program.config("custom", config_of(66, 2));
  for (int64_t device = 0; device < 8; ++device) {
    program.device_fact(device, "compute_units", int64_t{132});
    program.kernel(config, 0, (device == 5 ? 100 : 90) * kMs, {.device = device});
  }
  const auto found = of_rule(program.insights(), "partial_wave");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(*found[0].gain_ns, 50.0 * kMs, 1);
  EXPECT_NE(found[0].detail.find("100.0 ms in total (100.0% of session)"), std::string::npos)
      << found[0].detail;
  ASSERT_EQ(found[0].evidence.size(), 1u);
  EXPECT_EQ(found[0].evidence[0].device, 5);
}

TEST(WarpStalls, OfSeveralGpusTheLongestCounts) {
  TestProgram program;
  sample(program, "custom", {{kLongScoreboard, 600}, {kSelected, 400}});
  for (int64_t device = 0; device < 2; ++device) {
    program.kernel("custom", 0, 100 * kMs, {.device = device});
  }
  const auto found = of_rule(program.insights(), "warp_stalls");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].detail.find("100.0 ms (100.0% of session)"), std::string::npos)
      << found[0].detail;
}

TEST(WarpStalls, TheMainReason) {
  TestProgram program;
  sample(program, "custom",
         {{kLongScoreboard, 400},
          {std::string(kLongScoreboard) + "_not_issued", 390},
          {kSelected, 600}});
  const auto found = of_rule(one_kernel(program, config_of(10'000, 8)), "warp_stalls");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(
      found[0].title,
      "Warps of custom stalled in 40.0% of samples: waits for data from global or local memory "
      "or a texture");
  EXPECT_NE(found[0].advice.find("global or local memory"), std::string::npos);
}

TEST(WarpStalls, NotBelowItsShareNorForFewSamples) {
  TestProgram below;
  sample(below, "custom", {{kLongScoreboard, 399}, {kSelected, 601}});
  EXPECT_TRUE(of_rule(one_kernel(below, config_of(10'000, 8)), "warp_stalls").empty());
  TestProgram few;
  sample(few, "custom", {{kLongScoreboard, 900}, {kSelected, 99}});
  EXPECT_TRUE(of_rule(one_kernel(few, config_of(10'000, 8)), "warp_stalls").empty());
}

TEST(ThreadDivergence, LanesThatDoNothing) {
  const auto with_threads = [](int64_t threads) {
    TestProgram program;
    sample(program, "custom", {{kLongScoreboard, 500}, {kSelected, 500}});
    count(program, "custom",
          {{"smsp__sass_inst_executed", 1'000}, {"smsp__sass_thread_inst_executed", threads}});
    return of_rule(one_kernel(program, config_of(10'000, 8)), "thread_divergence");
  };
  const auto found = with_threads(16'000);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Thread divergence in custom · 16.0 of 32 threads active");
  EXPECT_NEAR(*found[0].gain_ns, 100.0 * kMs * 0.5 * 0.5, 1);
  EXPECT_TRUE(with_threads(24'001).empty());
}

TEST(UncoalescedAccess, SectorsThatAreNotNeeded) {
  const auto with_sectors = [](int64_t moved, bool is_sampled) {
    TestProgram program;
    if (is_sampled) sample(program, "custom", {{kLongScoreboard, 600}, {kSelected, 400}});
    count(program, "custom",
          {{"smsp__sass_sectors_mem_global", moved}, {"smsp__sass_sectors_mem_global_ideal", 300}});
    return of_rule(one_kernel(program, config_of(10'000, 8)), "uncoalesced_access");
  };
  auto found = with_sectors(1'200, true);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Uncoalesced access in custom · 4.0 times the sectors needed");
  EXPECT_NEAR(*found[0].gain_ns, 100.0 * kMs * 0.6 * 0.75, 1);
  found = with_sectors(1'200, false);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].gain_ns);
  EXPECT_TRUE(with_sectors(399, true).empty());
}

TEST(BankConflicts, PassesThatAreNotNeeded) {
  const auto with_passes = [](int64_t taken) {
    TestProgram program;
    sample(program, "custom",
           {{"smsp__pcsamp_warps_issue_stalled_short_scoreboard", 500}, {kSelected, 500}});
    count(program, "custom",
          {{"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared", taken},
           {"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal", 100}});
    return of_rule(one_kernel(program, config_of(10'000, 8)), "bank_conflicts");
  };
  const auto found = with_passes(400);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Bank conflicts in custom · 4.0 times the passes needed");
  EXPECT_NEAR(*found[0].gain_ns, 100.0 * kMs * 0.5 * 0.75, 1);
  EXPECT_TRUE(with_passes(124).empty());
}

}  // namespace
}  // namespace gpufl::analysis::testing
