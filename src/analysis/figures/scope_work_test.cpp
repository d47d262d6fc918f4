// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/scope_work.hpp"

#include <gtest/gtest.h>

#include "analysis/session/scope_paths.hpp"
#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

std::vector<ScopeWork> work_of(const SessionData& data, const AnalysisOptions& options = {}) {
  return scope_work(data, options);
}

TEST(ScopeWork, NoScopes) {
  TestSession session;
  session.kernel("a", 0, 1);
  EXPECT_TRUE(work_of(session.finish()).empty());
}

TEST(ScopeWork, OwnTimeAndThatOfWhatIsInside) {
  TestSession session;
  const int64_t train = session.scope("train", 0, 10'000);
  const int64_t first = session.scope("step", 100, 1000, {.parent = train});
  const int64_t second = session.scope("step", 2000, 1000, {.parent = train});
  session.kernel("gemm", 200, 100, {.scope = first, .api_start = 150});
  session.kernel("relu", 250, 100, {.stream = 8, .scope = first, .api_start = 240});
  session.kernel("gemm", 2500, 100, {.scope = second, .api_start = 2450});
  session.kernel("init", 50, 20, {.scope = train, .api_start = 10});
  session.kernel("other", 5000, 20);
  session.copy(1, 4096, 2550, 100, {.scope = second});
  session.fill(64, 2700, 10, {.scope = second});
  session.wait(3, 2700, 50, {.scope = second});
  session.wait(4, 9000, 70, {.scope = train});
  const auto scopes = work_of(session.finish());
  ASSERT_EQ(scopes.size(), 2u);
  const ScopeWork &outer = scopes[0], &step = scopes[1];
  EXPECT_EQ(outer.path, "train");
  EXPECT_EQ(outer.end, 2u);
  EXPECT_EQ(step.path, "train > step");
  EXPECT_EQ(step.parent, 0u);
  EXPECT_EQ(step.depth, 1u);
  EXPECT_EQ(step.duration_ns.count, 2u);
  EXPECT_EQ(step.own.kernels, 3u);
  EXPECT_EQ(step.own.kernel_ns, 300);
  EXPECT_EQ(step.own.gpu_ns(), 410);
  EXPECT_EQ(step.own.copy_bytes, 4096);
  EXPECT_EQ(step.own.wait_ns, 50);
  EXPECT_EQ(outer.own.kernel_ns, 20);
  EXPECT_EQ(outer.total.kernels, 4u);
  EXPECT_EQ(outer.total.gpu_ns(), 430);
  EXPECT_EQ(outer.total.waits, 2u);
  EXPECT_EQ(outer.total.wait_ns, 120);
  // 200 to 350, 2500 to 2650, 2700 to 2710.
  EXPECT_EQ(step.busy_ns, 310);
  EXPECT_EQ(outer.busy_ns, 330);
  EXPECT_EQ(step.span_ns, 2000);
  ASSERT_TRUE(step.mean_launch_ns);
  EXPECT_DOUBLE_EQ(*step.mean_launch_ns, (50.0 + 10 + 50) / 3);
  EXPECT_DOUBLE_EQ(*outer.mean_launch_ns, (50.0 + 10 + 50 + 40) / 4);
}

TEST(ScopeWork, ListsItsKernelsAndWaits) {
  TestSession session;
  const int64_t outer = session.scope("outer", 0, 1000);
  const int64_t inner = session.scope("inner", 0, 1000, {.parent = outer});
  session.kernel("a", 0, 10, {.scope = outer});
  session.kernel("b", 20, 30, {.scope = inner});
  session.kernel("a", 60, 25, {.scope = inner});
  session.wait(3, 100, 5, {.scope = inner});
  session.wait(3, 110, 6, {.scope = inner});
  AnalysisOptions options;
  options.top = 1;
  const auto scopes = work_of(session.finish(), options);
  ASSERT_EQ(scopes[0].kernels.size(), 1u);
  EXPECT_EQ(scopes[0].kernels[0].label, "a");
  EXPECT_EQ(scopes[0].kernels[0].count, 2u);
  EXPECT_EQ(scopes[0].kernels[0].total_ns, 35);
  EXPECT_EQ(scopes[0].kernel_names, 2u);
  EXPECT_EQ(scopes[1].kernels[0].label, "b");
  ASSERT_EQ(scopes[0].waits.size(), 1u);
  EXPECT_EQ(scopes[0].waits[0].label, "StreamSynchronize");
  EXPECT_EQ(scopes[0].waits[0].total_ns, 11);
}

TEST(ScopeWork, BusyTimeOfTwoDevicesIsAddedUp) {
  TestSession session;
  const int64_t scope = session.scope("s", 0, 100);
  session.kernel("a", 0, 50, {.device = 0, .scope = scope});
  session.kernel("a", 0, 50, {.device = 1, .scope = scope});
  session.kernel("a", 10, 20, {.device = 1, .stream = 9, .scope = scope});
  EXPECT_EQ(work_of(session.finish())[0].busy_ns, 100);
}

TEST(ScopeWork, BenchmarksTellGpuTimeByIteration) {
  TestSession session;
  const int64_t scope = session.scope("matmul", 0, 1000, {.repeat = 10, .warmup = 3});
  for (int i = 0; i < 10; ++i) session.kernel("gemm", i * 100, 50, {.scope = scope});
  session.scope("plain", 2000, 10);
  const auto scopes = work_of(session.finish());
  EXPECT_EQ(scopes[0].iteration_ns.count, 10u);
  EXPECT_DOUBLE_EQ(scopes[0].iteration_ns.mean(), 100);
  EXPECT_EQ(scopes[0].warmup, 3u);
  EXPECT_DOUBLE_EQ(*scopes[0].iteration_gpu_ns, 50);
  EXPECT_FALSE(scopes[1].iteration_gpu_ns);
}

TEST(ScopeWork, CountersAreRatesWhileItIsOpen) {
  TestSession session;
  session.data.summary.duration_ns = 4'000'000'000;
  session.scope("step", 0, 1'000'000'000);
  session.scope("step", 2'000'000'000, 1'000'000'000);
  session.scope("idle", 3'500'000'000, 100);
  session.counter("tokens", 0, 100);
  session.counter("tokens", 900'000'000, 299);
  session.counter("tokens", 1'000'000'000, 300);
  session.counter("tokens", 1'990'000'000, 1000);  // between
  session.counter("tokens", 2'010'000'000, 1002);  // at the edge of the second: in or before it
  session.counter("tokens", 2'900'000'000, 1200);
  const uint32_t tokens = session.name("tokens");
  const auto scopes = work_of(session.finish());
  const ScopeCounters& counters = scopes[0].counters;
  ASSERT_EQ(counters.list.size(), 1u);
  EXPECT_EQ(counters.list[0].name, tokens);
  ASSERT_TRUE(counters.list[0].growth);
  EXPECT_EQ(counters.list[0].growth->increase, 399);  // 398 to 400
  EXPECT_DOUBLE_EQ(counters.list[0].growth->per_second, 199.5);
  EXPECT_EQ(counters.unknown, 0u);
  EXPECT_TRUE(scopes[1].counters.list.empty());
}

TEST(ScopeWork, CountersAreUnknownWhereTheyAreReadTooSeldom) {
  TestSession session;
  session.data.summary.duration_ns = 1'000'000'000;
  // Counted after each batch, and read every 100 ms.
  for (int64_t i = 0; i < 100; ++i) session.scope("batch", i * 10'000'000, 5'000'000);
  for (int64_t i = 0; i <= 10; ++i) session.counter("tokens", i * 100'000'000, i * 1000);
  const auto scopes = work_of(session.finish());
  ASSERT_EQ(scopes[0].counters.list.size(), 1u);
  EXPECT_FALSE(scopes[0].counters.list[0].growth);
  EXPECT_EQ(scopes[0].counters.unknown, 1u);
}

TEST(ScopeWork, EnergyIsPowerOverItsTime) {
  TestSession session;
  session.data.summary.duration_ns = 3'000'000'000;
  session.scope("step", 1'000'000'000, 1'000'000'000);
  for (int64_t i = 0; i <= 30; ++i) session.metric("power_mw", 0, i * 100'000'000, 500'000);
  const auto scopes = work_of(session.finish());
  ASSERT_TRUE(scopes[0].energy_joules);
  EXPECT_NEAR(*scopes[0].energy_joules, 500, 1e-6);
  TestSession dark;
  dark.scope("step", 0, 10);
  EXPECT_FALSE(work_of(dark.finish())[0].energy_joules);
}

TEST(ScopeWork, AFilterKeepsWhatLiesAroundAndInsideAMatch) {
  TestSession session;
  const int64_t train = session.scope("train", 0, 100);
  const int64_t step = session.scope("step", 0, 50, {.parent = train});
  const int64_t forward = session.scope("forward", 0, 20, {.parent = step});
  const int64_t load = session.scope("load", 50, 20, {.parent = train});
  session.kernel("a", 0, 1, {.scope = forward});
  session.kernel("b", 10, 2, {.scope = load});
  session.kernel("c", 20, 4, {.scope = train});
  AnalysisOptions options;
  options.scope = "train > step*";
  const auto scopes = work_of(session.finish(), options);
  ASSERT_EQ(scopes.size(), 3u);
  EXPECT_EQ(scopes[2].path, "train > step > forward");
  EXPECT_EQ(scopes[0].total.kernel_ns, 1);
}

TEST(ScopeWork, SiblingsComeInOrderOfTheirStart) {
  TestSession session;
  const int64_t root = session.scope("root", 0, 1000);
  session.scope("late", 500, 10, {.parent = root});
  session.scope("early", 100, 10, {.parent = root});
  const auto scopes = work_of(session.finish());
  EXPECT_EQ(scopes[1].name, "early");
  EXPECT_EQ(scopes[2].name, "late");
  EXPECT_EQ(scopes[0].end, 3u);
}

TEST(ScopeWork, CirclesAndDeepNestingEnd) {
  TestSession session;
  session.scope("a", 0, 10);
  session.scope("b", 1, 10);
  int64_t parent = 0;
  for (int i = 0; i < 500; ++i) parent = session.scope("deep", 100, 10, {.parent = parent});
  session.kernel("k", 100, 7, {.scope = parent});
  SessionData data = session.finish();
  data.tables.scopes.parent[0] = 1;
  data.tables.scopes.parent[1] = 0;
  const auto scopes = work_of(data);
  EXPECT_GE(scopes.size(), 2u + kMaxScopeDepth);
  EXPECT_EQ(scopes.back().own.kernel_ns, 7);
}

TEST(ScopeWork, DurationsHavePercentiles) {
  TestSession session;
  for (int i = 1; i <= 100; ++i) session.scope("step", i * 1000, i);
  session.scope("step", 200'000, 900, {.ending = Scopes::kOpen});
  session.scope("step", 300'000, 900, {.ending = static_cast<uint8_t>(format::ScopeEnding::Lost)});
  const SessionData data = session.finish();
  const auto scopes = scope_work(data, {});
  ASSERT_EQ(scopes.size(), 1u);
  const Stats& stats = scopes[0].duration_stats_ns;
  EXPECT_EQ(stats.count, scopes[0].duration_ns.count);
  EXPECT_EQ(stats.count, 100u);
  EXPECT_EQ(stats.total, 5050);
  EXPECT_DOUBLE_EQ(stats.median, 50.5);
  EXPECT_EQ(stats.p90, 90);
  EXPECT_EQ(stats.p99, 99);
  EXPECT_EQ(stats.max, 100);
}

TEST(ScopeFiguresTest, IterationsAreOfScopesThatTellThem) {
  using format::ScopeEnding;
  ScopeFigures figures;
  figures.add_ended(500, 1000, ScopeEnding::Normal, 10, 3);
  figures.add_ended(2000, 6000, ScopeEnding::Normal, 20, 3);
  figures.add_ended(9000, 77, ScopeEnding::Normal, 0, 0);
  figures.add_ended(100, 50, ScopeEnding::Shutdown, 10, 3);  // nobody knows how many of them
  EXPECT_EQ(figures.iteration_ns.count, 30u);
  EXPECT_DOUBLE_EQ(figures.iteration_ns.mean(), 7000.0 / 30);
  EXPECT_EQ(figures.iteration_ns.min, 100);
  EXPECT_EQ(figures.iteration_ns.max, 300);
  EXPECT_EQ(figures.warmup, 6u);
  EXPECT_EQ(figures.duration_ns.count, 4u);
  EXPECT_EQ(figures.first_start_ns, 100);
}

TEST(ScopeFiguresTest, CountsEndingsThatSayLess) {
  using format::ScopeEnding;
  ScopeFigures figures;
  figures.add_ended(0, 10, ScopeEnding::Normal, 0, 0);
  figures.add_ended(0, 30, ScopeEnding::Shutdown, 0, 0);
  figures.add_ended(0, 20, ScopeEnding::ThreadExit, 0, 0);
  figures.add_ended(0, 999, ScopeEnding::Lost, 0, 0);
  figures.add_open(100, 300);
  figures.add_open(INT64_MAX, -5);
  EXPECT_EQ(figures.duration_ns.count, 3u);
  EXPECT_EQ(figures.duration_ns.total, 60);
  EXPECT_EQ(figures.cut, 2u);
  EXPECT_EQ(figures.lost, 1u);
  EXPECT_EQ(figures.open, 2u);
  EXPECT_EQ(figures.open_ns, 300);
}

}  // namespace
}  // namespace gpufl::analysis
