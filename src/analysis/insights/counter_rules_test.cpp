// SPDX-License-Identifier: Apache-2.0
// Rules of counters on sessions that keep the code: the kernel, its line, and by what factor it
// exceeds the least that would do.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/insights/test_program.hpp"
#include "disassembly/test_modules.hpp"

namespace gpufl::analysis::testing {
namespace {

namespace modules = disassembly::testing;
using modules::kSaxpy;

struct Count {
  int64_t pc = 0;
  const char* metric = "";
  int64_t value = 0;
};

// saxpy, which takes half of a session of 200 ms and was counted as given. Its session keeps the
// image with lines, or does not.
class Saxpy {
 public:
  explicit Saxpy(const std::vector<Count>& counts, bool keeps_code = true) {
    program_.kernel(kSaxpy, 0, 100 * kMs);
    program_.data.summary.duration_ns = 200 * kMs;
    program_.data.summary.dir = dir_.path() / "session";
    const std::string image = modules::image_of("saxpy");
    auto log =
        format::testing::make_writer(format::testing::test_options(program_.data.summary.dir));
    modules::tell_module(*log, kModule, image);
    EXPECT_TRUE(log->close(1000, format::Ledger()));
    if (keeps_code) modules::keep_image(program_.data.summary.dir, image);
    format::Batch rows(format::Kind::SassMetric);
    for (const Count& count : counts) {
      rows.push_row({0, 0, 1, kModule, program_.name(kSaxpy), count.pc,
                     program_.metric_name(count.metric), count.value, 0, 0});
    }
    program_.data.tables.others.emplace(format::Kind::SassMetric, std::move(rows));
  }
  Insight only(std::string_view rule) {
    auto found = of_rule(program_.insights(), rule);
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? Insight() : std::move(found.front());
  }

 private:
  static constexpr int64_t kModule = 7;
  format::testing::TempDir dir_;
  TestProgram program_;
};

// As a recording of an instruction has them: most of what is needless at offset 0x30, some at
// 0x200.
std::vector<Count> with(const char* metric, const char* ideal) {
  return {{0x30, metric, 3200}, {0x30, ideal, 400}, {0x200, metric, 500}, {0x200, ideal, 100}};
}

void expect_line(const Insight& insight, const std::string& text) {
  ASSERT_EQ(insight.evidence.size(), 2u);
  EXPECT_EQ(insight.evidence[1].file, "/home/me/app/saxpy.cu");
  EXPECT_GT(insight.evidence[1].line, 0);
  EXPECT_EQ(insight.evidence[1].text, text);
}

TEST(CounterRules, UncoalescedAccessNamesItsLine) {
  const auto counts = with("smsp__sass_sectors_mem_global", "smsp__sass_sectors_mem_global_ideal");
  const Insight insight = Saxpy(counts).only("uncoalesced_access");
  EXPECT_EQ(insight.title, "Uncoalesced access in saxpy · 7.4 times the sectors needed");
  expect_line(insight, "8.0 times the sectors needed; 87.5% of the waste");
}

TEST(CounterRules, BankConflictsNameTheirLine) {
  const auto counts = with("smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared",
                           "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal");
  expect_line(Saxpy(counts).only("bank_conflicts"),
              "8.0 times the passes needed; 87.5% of the waste");
}

TEST(CounterRules, DivergenceNamesItsLine) {
  const Insight insight = Saxpy({{0x30, "smsp__sass_inst_executed", 100},
                                 {0x30, "smsp__sass_thread_inst_executed", 800},
                                 {0x200, "smsp__sass_inst_executed", 100},
                                 {0x200, "smsp__sass_thread_inst_executed", 2400}})
                              .only("thread_divergence");
  EXPECT_EQ(insight.title, "Thread divergence in saxpy · 16.0 of 32 threads active");
  expect_line(insight, "8.0 of 32 threads active; 75.0% of the waste");
}

TEST(CounterRules, WithoutTheCodeItIsTheInstruction) {
  const auto counts = with("smsp__sass_sectors_mem_global", "smsp__sass_sectors_mem_global_ideal");
  const Insight insight = Saxpy(counts, false).only("uncoalesced_access");
  ASSERT_EQ(insight.evidence.size(), 2u);
  EXPECT_EQ(insight.evidence[1].text,
            "most at instruction 0x0030: 8.0 times the sectors needed; 87.5% of the waste");
  EXPECT_TRUE(insight.evidence[1].file.empty());
}

TEST(CounterRules, SpillsNameTheLineThatMovesMost) {
  const std::vector<Count> counts{{0x30, "smsp__sass_sectors_mem_local", 300},
                                  {0x200, "smsp__sass_sectors_mem_local", 100},
                                  {0x30, "smsp__sass_sectors_mem_global", 400}};
  const Insight insight = Saxpy(counts).only("register_spill");
  EXPECT_EQ(insight.title, "Local memory in saxpy · 50.0% of its memory traffic")
      << "although its configuration says nothing of local memory";
  EXPECT_FALSE(insight.gain_ns);
  EXPECT_NE(insight.estimate.find("how long its warps wait for memory is not recorded"),
            std::string::npos);
  EXPECT_NE(insight.detail.find("400 sectors of 32 bytes were moved for it"), std::string::npos);
  expect_line(insight, "300 sectors of local memory; 75.0% of the waste");
}

TEST(CounterRules, LittleLocalMemoryIsNoSpill) {
  TestProgram program;
  program.kernel("custom", 0, 100 * kMs);
  program.data.summary.duration_ns = 200 * kMs;
  format::Batch rows(format::Kind::SassMetric);
  for (const auto& [metric, value] :
       {std::pair<const char*, int64_t>{"smsp__sass_sectors_mem_local", 4},
        {"smsp__sass_sectors_mem_global", 96}}) {
    rows.push_row(
        {0, 0, 1, 1, program.name("custom"), 0, program.metric_name(metric), value, 0, 0});
  }
  program.data.tables.others.emplace(format::Kind::SassMetric, std::move(rows));
  EXPECT_TRUE(of_rule(program.insights(), "register_spill").empty());
}

constexpr const char* kAchieved = "sm__warps_active.avg.pct_of_peak_sustained_active";

// One launch that takes half of the session, with room for as many warps as `possible` says.
std::vector<Insight> occupied(const char* range, int64_t achieved_percent, double possible) {
  TestProgram program;
  LaunchConfig config;
  config.grid = {10'000, 1, 1};
  config.block = {256, 1, 1};
  config.occupancy = possible;
  config.occupancy_bound = "registers";
  config.occupancy_bounds = {{"registers", 2}};
  program.device_fact(0, "compute_units", 132);
  program.kernel(program.config("custom", config), 0, 100 * kMs);
  program.data.summary.duration_ns = 200 * kMs;
  program.range_metric(range, kAchieved, achieved_percent);
  return of_rule(program.insights(), "low_occupancy");
}

TEST(LowAchievedOccupancy, OfAKernelThatCouldHaveMore) {
  const auto found = occupied("custom", 12, 0.5);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Low achieved occupancy of custom · 12.0% of 50.0% possible");
  EXPECT_NE(found[0].detail.find(kAchieved), std::string::npos);
  EXPECT_FALSE(found[0].gain_ns);
}

TEST(LowAchievedOccupancy, OfARangeOfTheProgram) {
  const auto found = occupied("step", 12, 0.5);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Low achieved occupancy of step · 12.0%");
  ASSERT_EQ(found[0].evidence.size(), 1u);
  EXPECT_EQ(found[0].evidence[0].scope, "step");
}

TEST(LowAchievedOccupancy, IsToldOnceOfAKernelThatFitsNoMore) {
  const auto found = occupied("custom", 12, 0.125);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Low occupancy of custom · 12.5%, limited by registers");
  EXPECT_NE(found[0].detail.find("12.0% was achieved"), std::string::npos) << found[0].detail;
}

TEST(LowAchievedOccupancy, NotForEnoughNorForWhatWasNotCounted) {
  EXPECT_TRUE(occupied("custom", 26, 0.5).empty());
  TestProgram program;
  program.kernel("custom", 0, 100 * kMs);
  program.range_metric("custom", "dram__bytes.sum", 0);
  EXPECT_TRUE(of_rule(program.insights(), "low_occupancy").empty());
}

}  // namespace
}  // namespace gpufl::analysis::testing
