// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/transfers.hpp"

#include <gtest/gtest.h>

#include "analysis/figures/communication.hpp"
#include "analysis/figures/memory_usage.hpp"
#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using format::MemoryOperation;
using testing::TestSession;

TEST(Transfers, ByDirectionMemoryAndSize) {
  TestSession session;
  session.copy(1, 1 << 20, 0, 1000, {}, {.source_kind = 1, .target_kind = 3, .is_async = false});
  session.copy(1, 100, 2000, 100, {}, {.source_kind = 2, .target_kind = 3});
  session.copy(2, 4096, 3000, 400, {}, {.source_kind = 3, .target_kind = 2});
  const auto figures = transfers(session.finish(), {});
  ASSERT_TRUE(figures.copies);
  const Transfers& copies = *figures.copies;
  EXPECT_EQ(copies.all.duration_ns.total, 1500);
  EXPECT_EQ(copies.all.bytes.total, (1 << 20) + 4196);
  EXPECT_EQ(copies.all.asynchronous, 2u);
  ASSERT_EQ(copies.by_direction.size(), 2u);
  EXPECT_EQ(copies.by_direction[0].label, "host to device");
  EXPECT_EQ(copies.by_direction[0].duration_ns.count, 2u);
  EXPECT_DOUBLE_EQ(copies.by_direction[0].bytes_per_second, ((1 << 20) + 100) * 1e9 / 1100);
  EXPECT_DOUBLE_EQ(copies.by_direction[1].share, 400.0 / 1500);
  ASSERT_EQ(copies.by_memory.size(), 3u);
  EXPECT_EQ(copies.by_memory[0].label, "host to device, pageable to device");
  EXPECT_EQ(copies.by_memory[0].source, MemoryKind::Pageable);
  ASSERT_EQ(copies.by_size.size(), 3u);
  EXPECT_EQ(copies.by_size[0].label, "under 4 KiB");
  EXPECT_EQ(copies.by_size[1].min_bytes, 4096);
  EXPECT_EQ(copies.by_size[2].label, "1 MiB to 16 MiB");
}

TEST(Transfers, OverlapIsTimeInWhichAKernelRanOnTheSameDevice) {
  TestSession session;
  session.kernel("a", 100, 100);                 // 100 to 200
  session.kernel("b", 150, 100, {.stream = 8});  // to 250
  session.kernel("c", 300, 50);                  // to 350
  session.kernel("x", 0, 1000, {.device = 1});
  session.copy(1, 8, 50, 100);   // 50 in a
  session.copy(1, 8, 120, 200);  // 130 in a and b, 20 in c
  session.copy(2, 8, 250, 50);   // between
  session.copy(2, 8, 340, 100);  // 10 in c
  session.copy(2, 8, 500, 0);
  const auto copies = *transfers(session.finish(), {}).copies;
  EXPECT_EQ(copies.all.overlapped_ns, 50 + 150 + 0 + 10);
  EXPECT_EQ(copies.by_direction[0].overlapped_ns, 200);
  EXPECT_EQ(copies.by_direction[1].overlapped_ns, 10);
}

TEST(Transfers, CopiesWithoutASizeAreInNoSumOfBytes) {
  TestSession session;
  session.copy(1, 4000, 0, 40);
  session.copy(1, 0, 100, 1'000'000);
  session.copy(2, 0, 100, 50);
  session.fill(0, 20, 30);
  const SessionData data = session.finish();
  const auto figures = transfers(data, {});
  const TransferGroup& all = figures.copies->all;
  EXPECT_EQ(all.duration_ns.count, 3u);
  EXPECT_EQ(all.bytes.count, 1u);
  EXPECT_EQ(all.bytes.min, 4000);
  EXPECT_DOUBLE_EQ(all.bytes_per_second, 4000 * 1e9 / 40);
  EXPECT_EQ(figures.copies->by_direction[1].bytes.count, 0u);
  EXPECT_EQ(figures.copies->by_direction[1].bytes_per_second, 0);
  ASSERT_EQ(figures.copies->by_size.size(), 2u);
  EXPECT_EQ(figures.copies->by_size[1].label, "size unknown");
  EXPECT_EQ(figures.copies->by_size[1].duration_ns.count, 2u);
  EXPECT_EQ(figures.fills->bytes.count, 0u);
}

TEST(Transfers, FillsAndNumbersOutsideTheTables) {
  TestSession session;
  session.fill(1000, 0, 10);
  session.fill(3000, 20, 30);
  session.copy(200, 8, 100, 0, {}, {.source_kind = 99, .target_kind = 3});
  const auto figures = transfers(session.finish(), {});
  EXPECT_EQ(figures.fills->bytes.total, 4000);
  EXPECT_DOUBLE_EQ(figures.fills->bytes_per_second, 4000 * 1e9 / 40);
  EXPECT_EQ(figures.copies->by_memory[0].label, "unknown direction, unknown to device");
  EXPECT_EQ(figures.copies->all.bytes_per_second, 0);
}

TEST(Transfers, NoneAndNotRecordedAreNotTheSame) {
  TestSession session;
  session.data.summary.header.engine = "Trace";
  session.data.summary.ledger.emplace().kernel_records = 0;
  EXPECT_EQ(transfers(session.data, {}).copies->all.duration_ns.count, 0u);
  session.data.summary.header.engine = "Monitor";
  EXPECT_FALSE(transfers(session.data, {}).copies);
  EXPECT_FALSE(transfers(session.data, {}).fills);
}

TEST(Communication, IsExposedWhereNothingElseRuns) {
  TestSession session;
  session.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 100, 100, {.stream = 20});
  session.kernel("gemm", 0, 150);
  session.kernel("gemm", 190, 20);
  session.kernel("gemm", 0, 10, {.device = 1});
  const SessionData data = session.finish();
  const auto figures = communication(data, {});
  ASSERT_TRUE(figures);
  ASSERT_EQ(figures->size(), 1u);
  const Communication& device = (*figures)[0];
  EXPECT_EQ(device.device, 0);
  EXPECT_EQ(device.kernels, 1u);
  EXPECT_EQ(device.communication_ns, 100);
  EXPECT_EQ(device.compute_ns, 170);
  EXPECT_EQ(device.overlapped_ns, 60);
  EXPECT_EQ(device.exposed_ns(), 40);
  EXPECT_DOUBLE_EQ(device.overlap_share(), 0.6);
}

TEST(MemoryUsage, PeakChurnAndWhatIsLeft) {
  TestSession session;
  session.data.summary.duration_ns = 2'000'000'000;
  session.allocation(MemoryOperation::Allocate, 0x1000, 100, 10,
                     {.api_start = 5, .api_duration = 7});
  session.allocation(MemoryOperation::Allocate, 0x2000, 300, 20,
                     {.api_start = 15, .api_duration = 8});
  session.allocation(MemoryOperation::Release, 0x1000, 0, 30, {.api_start = 25, .api_duration = 1});
  session.allocation(MemoryOperation::Allocate, 0x1000, 250, 40);
  session.allocation(MemoryOperation::Release, 0x2000, 300, 50);
  session.allocation(MemoryOperation::Release, 0x9000, 0, 60);
  const auto usage = memory_usage(session.finish(), {});
  ASSERT_TRUE(usage);
  ASSERT_EQ(usage->size(), 1u);
  const MemoryUsage& memory = (*usage)[0];
  EXPECT_EQ(memory.kind, MemoryKind::Device);
  EXPECT_EQ(memory.allocations, 3u);
  EXPECT_EQ(memory.releases, 3u);
  EXPECT_EQ(memory.unmatched_releases, 1u);
  EXPECT_EQ(memory.allocated_bytes, 650);
  EXPECT_EQ(memory.peak_bytes, 550);
  EXPECT_EQ(memory.peak_ns, 40);
  EXPECT_EQ(memory.end_bytes, 250);
  EXPECT_EQ(memory.end_allocations, 1u);
  EXPECT_DOUBLE_EQ(memory.allocations_per_second, 1.5);
  EXPECT_EQ(*memory.call_ns, 16);
  ASSERT_FALSE(memory.live_bytes.points.empty());
  EXPECT_EQ(memory.live_bytes.points.back().mean, 250);
  EXPECT_EQ(memory.live_bytes.points.front().max, 550);
}

TEST(MemoryUsage, AnAddressThatComesTwiceWasReleasedUnseen) {
  TestSession session;
  session.data.summary.duration_ns = 100;
  session.allocation(MemoryOperation::Allocate, 0x1000, 100, 10);
  session.allocation(MemoryOperation::Allocate, 0x1000, 40, 20);
  const auto usage = *memory_usage(session.finish(), {});
  EXPECT_EQ(usage[0].end_bytes, 40);
  EXPECT_EQ(usage[0].peak_bytes, 100);
  EXPECT_EQ(usage[0].end_allocations, 1u);
}

TEST(MemoryUsage, NotRecordedIsUnknown) {
  TestSession session;
  session.data.summary.header.engine = "Trace";
  session.kernel("a", 0, 1);
  const auto usage = memory_usage(session.finish(), {});
  ASSERT_FALSE(usage);
  EXPECT_EQ(usage.unknown().reason, "allocations were not recorded");
  EXPECT_EQ(usage.unknown().remedy, "record with enable_memory_tracking (gpufl trace --memory)");
}

}  // namespace
}  // namespace gpufl::analysis
