// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "analysis/insights/test_program.hpp"

namespace gpufl::analysis::testing {
namespace {

constexpr uint8_t kToDevice = 1, kToHost = 2;
constexpr TestCopy kPageable{.source_kind = 1, .target_kind = 3};
constexpr TestCopy kPinned{.source_kind = 2, .target_kind = 3};

TEST(PageableCopies, AgainstPinnedCopiesOfTheSession) {
  TestProgram program;
  const uint32_t line = program.line("/home/me/data.py", 3, "load");
  // 64 MB in 8 ms, pinned in 1.6 ms (40 GB/s).
  for (int i = 0; i < 10; ++i) {
    program.copy(kToDevice, 64'000'000, i * 20 * kMs, 8 * kMs,
                 {.api_start = i * 20 * kMs - 2 * kMs, .api_duration = 10 * kMs, .stack = line},
                 kPageable);
    program.kernel("step", i * 20 * kMs + 8 * kMs, 5 * kMs);
  }
  program.copy(kToDevice, 64'000'000, 300 * kMs, 1'600 * kUs, {}, kPinned);
  const auto found = of_rule(program.insights(), "pageable_copies");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Pageable copies × 10, host to device · 610.4 MiB at 8.0 GB/s");
  EXPECT_NEAR(*found[0].gain_ns, 10 * (10'000.0 - 1'600 - 8) * kUs, 1'000);
  EXPECT_EQ(found[0].confidence, Confidence::High);
  EXPECT_EQ(found[0].evidence.at(0).line, 3);
}

TEST(PageableCopies, OnlyWhatNoKernelHides) {
  TestProgram program;
  program.device_fact(0, "pcie_generation_max", 5);
  program.device_fact(0, "pcie_width_max", 16);
  program.kernel("long", 0, 8 * kMs);
  program.copy(kToDevice, 55'000'000, 0, 9 * kMs, {}, kPageable);
  program.kernel("last", 9 * kMs, kMs);
  // 1 ms is exposed, and 1 ms is what the bytes need.
  EXPECT_TRUE(of_rule(program.insights(), "pageable_copies").empty());
}

TEST(PageableCopies, BandwidthOfTheLinkWhereNothingWasPinned) {
  const auto gain = [](int64_t generation, int64_t lanes) {
    TestProgram program;
    program.device_fact(0, "pcie_generation_max", generation);
    program.device_fact(0, "pcie_width_max", lanes);
    program.copy(kToDevice, 55'000'000, 0, 9 * kMs, {}, kPageable);
    program.kernel("last", 9 * kMs, kMs);
    return *of_rule(program.insights(), "pageable_copies").at(0).gain_ns;
  };
  EXPECT_NEAR(gain(5, 16), (9'000.0 - 1'000 - 8) * kUs, 1);
  EXPECT_NEAR(gain(5, 8), (9'000.0 - 2'000 - 8) * kUs, 1);
}

TEST(PageableCopies, NotBelowOnePercentOfTheSession) {
  TestProgram program;
  program.copy(kToDevice, 1'000'000, 0, 100 * kUs, {}, kPageable);
  program.kernel("step", 100 * kUs, 10 * kMs);
  EXPECT_TRUE(of_rule(program.insights(), "pageable_copies").empty());
}

TEST(SmallCopies, ThoseThatFollowEachOther) {
  TestProgram program;
  for (int step = 0; step < 10; ++step) {
    const int64_t from = step * kMs;
    for (int i = 0; i < 20; ++i) {
      program.copy(kToDevice, 4'096, from + i * 10 * kUs, 2 * kUs, {}, kPinned);
    }
    program.kernel("step", from + 300 * kUs, 500 * kUs);
  }
  const auto found = of_rule(program.insights(), "small_copies");
  ASSERT_EQ(found.size(), 1u);
  // Runs of 192 us become copies of 2 us and what 80 KiB take.
  EXPECT_NEAR(*found[0].gain_ns, 10 * (192 - 2 - 3.2) * kUs, 10.0 * kUs);
  EXPECT_NE(found[0].title.find("Small copies × 200, host to device · 4.000 KiB"),
            std::string::npos);
}

TEST(SmallCopies, NotWithKernelsBetweenNorForFew) {
  TestProgram apart;
  for (int i = 0; i < 200; ++i) {
    apart.copy(kToDevice, 4'096, i * 50 * kUs, 2 * kUs, {}, kPinned);
    apart.kernel("step", i * 50 * kUs + 10 * kUs, 30 * kUs);
  }
  EXPECT_TRUE(of_rule(apart.insights(), "small_copies").empty());
  const auto of_number = [](int copies) {
    TestProgram program;
    for (int i = 0; i < copies; ++i) {
      program.copy(kToDevice, 4'096, i * 10 * kUs, 2 * kUs, {}, kPinned);
    }
    return of_rule(program.insights(), "small_copies").size();
  };
  EXPECT_EQ(of_number(99), 0u);
  EXPECT_EQ(of_number(100), 1u);
}

TEST(UnoverlappedCopies, AsFarAsKernelsCouldHideThem) {
  TestProgram program;
  for (int i = 0; i < 10; ++i) {
    program.copy(kToHost, 50'000'000, i * 10 * kMs, 2 * kMs, {},
                 {.source_kind = 3, .target_kind = 2});
    program.kernel("step", i * 10 * kMs + 2 * kMs, 1'500 * kUs);
  }
  const auto found = of_rule(program.insights(), "unoverlapped_copies");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(*found[0].gain_ns, 15.0 * kMs, 1);
  EXPECT_NE(found[0].title.find("20.00 ms of 20.00 ms with no kernel running"), std::string::npos);
}

TEST(UnoverlappedCopies, NotWhereKernelsRun) {
  TestProgram hidden;
  hidden.kernel("step", 0, 100 * kMs);
  hidden.copy(kToDevice, 1 << 20, 10 * kMs, 50 * kMs, {}, kPinned);
  EXPECT_TRUE(of_rule(hidden.insights(), "unoverlapped_copies").empty());
  TestProgram pageable;  // another rule's
  pageable.kernel("step", 0, 100 * kMs);
  pageable.copy(kToDevice, 1 << 20, 100 * kMs, 50 * kMs, {}, kPageable);
  EXPECT_TRUE(of_rule(pageable.insights(), "unoverlapped_copies").empty());
  TestProgram little;
  little.kernel("step", 0, 100 * kMs);
  little.copy(kToDevice, 1 << 20, 100 * kMs, 2 * kMs, {}, kPinned);
  EXPECT_TRUE(of_rule(little.insights(), "unoverlapped_copies").empty());
}

void add_allocations(TestProgram& program, std::string_view function, int calls,
                     bool with_kernels = true) {
  const uint32_t line = program.line("/home/me/a.cpp", 9, "step");
  program.kernel("first", -kMs, 10 * kUs);
  for (int i = 0; i < calls; ++i) {
    program.api_call(function, i * kMs, 200 * kUs, 0, "", {.device = -1, .stack = line});
    if (with_kernels) program.kernel("step", i * kMs + 250 * kUs, 700 * kUs);
  }
  program.kernel("last", calls * kMs, 10 * kUs);
}

TEST(AllocationInLoop, CallsWithKernelsBetween) {
  TestProgram program;
  add_allocations(program, "cudaMalloc", 10);
  const auto found = of_rule(program.insights(), "allocation_in_loop");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Allocation in a loop: cudaMalloc × 10 @ a.cpp:9 · 2.000 ms");
  EXPECT_NEAR(*found[0].gain_ns, 10 * 200.0 * kUs, 1);
}

TEST(AllocationInLoop, TheFirstCallOfAllIsNotInTheLoop) {
  TestProgram program;
  const uint32_t line = program.line("/home/me/a.cpp", 9, "step");
  program.api_call("cudaMalloc", -100 * kMs, 90 * kMs, 0, "", {.device = -1, .stack = line});
  add_allocations(program, "cudaMalloc", 10);
  const auto found = of_rule(program.insights(), "allocation_in_loop");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Allocation in a loop: cudaMalloc × 10 @ a.cpp:9 · 2.000 ms");
}

TEST(AllocationInLoop, ThreadsThatAllocateAtOnceLeaveTheGpuIdleOnce) {
  TestProgram program;
  program.kernel("first", -kMs, 10 * kUs);
  for (int i = 0; i < 20; ++i) {
    for (int64_t thread = 1; thread <= (i < 5 ? 2 : 1); ++thread) {
      program.api_call("cudaMalloc", i * kMs, 200 * kUs, 0, "", {.thread = thread});
    }
    program.kernel("step", i * kMs + 200 * kUs, 800 * kUs);
  }
  const auto found = of_rule(program.insights(), "allocation_in_loop");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(*found[0].gain_ns, 20 * 200.0 * kUs, 1);
}

TEST(AllocationInLoop, NotForFewCallsPoolsOrAStart) {
  TestProgram few;
  add_allocations(few, "cudaMalloc", 9);
  EXPECT_TRUE(of_rule(few.insights(), "allocation_in_loop").empty());
  TestProgram pool;
  add_allocations(pool, "cudaMallocAsync", 100);
  EXPECT_TRUE(of_rule(pool.insights(), "allocation_in_loop").empty());
  TestProgram start;
  add_allocations(start, "cudaMalloc", 100, false);
  EXPECT_TRUE(of_rule(start.insights(), "allocation_in_loop").empty());
}

TEST(AllocationInLoop, FromRowsOfAllocationsWhereCallsHaveNone) {
  TestProgram program;
  program.kernel("first", -kMs, 10 * kUs);
  for (int i = 0; i < 20; ++i) {
    program.allocation(format::MemoryOperation::Allocate, static_cast<uint64_t>(i), 1024,
                       i * kMs + 100 * kUs, {.api_start = i * kMs, .api_duration = 200 * kUs});
    program.kernel("step", i * kMs + 250 * kUs, 700 * kUs);
  }
  EXPECT_EQ(of_rule(program.insights(), "allocation_in_loop").size(), 1u);
}

}  // namespace
}  // namespace gpufl::analysis::testing
