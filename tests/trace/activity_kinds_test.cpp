// SPDX-License-Identifier: Apache-2.0
// What the decoder makes of each kind of record beside kernels.

#include <cstring>

#include "backend/nvidia/cuda/cuda_errors.hpp"
#include "tests/trace/decoder_fixture.hpp"

namespace gpufl::backend {
namespace {

using format::Kind;

class Kinds : public Decoder {
 protected:
  Kinds()
      : Decoder({.memory = true,
                 .graphs = true,
                 .queue_times = true,
                 .call_records = true,
                 .stacks = &stacks}) {}

  std::vector<RecordingSink::Row>& rows(Kind kind) { return sink_.rows[kind]; }
  format::Ledger account() const {
    format::Ledger ledger;
    decoder_.account().fill_ledger(true, ledger);
    return ledger;
  }
};

MemoryRecord allocation(uint32_t id, uint64_t bytes) {
  MemoryRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.correlationId = id;
  record.address = 0xFFFF'8000'0000'0000;
  record.bytes = bytes;
  record.timestamp = kSecondNs + 50;
  record.contextId = Kinds::kContext;
  record.streamId = 13;
  return record;
}

TEST_F(Kinds, Memory) {
  namespace memory = format::memory_column;
  constexpr size_t kBytes = 128;
  sink_.scopes = [](int64_t, int64_t) { return ScopeRef{3, false}; };
  records_.call(1, kThread, kSecondNs, 0, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020);
  records_.add(allocation(1, 4096), kBytes);
  MemoryRecord pooled = allocation(2, 512);
  pooled.isAsync = 1;
  pooled.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  pooled.memoryPoolConfig.address = 77;
  pooled.memoryPoolConfig.utilizedSize = 8192;
  records_.add(pooled, kBytes);
  records_.call(3, kThread, kSecondNs, 2, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020);
  finish();
  ASSERT_EQ(rows(Kind::Memory).size(), 2u);
  const auto& plain = rows(Kind::Memory)[0];
  EXPECT_EQ(plain[memory::kTime], kSecondNs + 50);
  EXPECT_EQ(plain[memory::kOperation], static_cast<int64_t>(format::MemoryOperation::Allocate));
  EXPECT_EQ(static_cast<uint64_t>(plain[memory::kAddress]), 0xFFFF'8000'0000'0000);
  EXPECT_EQ(plain[memory::kBytes], 4096);
  EXPECT_EQ(plain[memory::kAsync], 0);
  EXPECT_EQ(plain[memory::kPool], 0);
  EXPECT_EQ(plain[memory::kDevice], 0);
  EXPECT_EQ(plain[memory::kThread], kThread);
  EXPECT_EQ(plain[memory::kApiStart], kSecondNs);
  EXPECT_EQ(plain[memory::kScope], 3);
  const auto& of_pool = rows(Kind::Memory)[1];
  EXPECT_EQ(of_pool[memory::kAsync], 1);
  EXPECT_EQ(of_pool[memory::kPool], 77);
  EXPECT_EQ(of_pool[memory::kPoolBytes], 8192);
  // What a row tells of its call is not told again; a failure has no other row.
  namespace api = format::api_column;
  ASSERT_EQ(rows(Kind::Api).size(), 1u);
  EXPECT_EQ(rows(Kind::Api)[0][api::kResult], 2);
  EXPECT_EQ(sink_.value(format::Dict::Name, rows(Kind::Api)[0][api::kError]),
            "cudaErrorMemoryAllocation");
}

TEST(CudaErrors, HaveNames) {
  EXPECT_EQ(cuda_error_name(false, 1), "cudaErrorInvalidValue");
  EXPECT_EQ(cuda_error_name(true, 1), "CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(cuda_error_name(false, 9), "cudaErrorInvalidConfiguration");
  EXPECT_EQ(cuda_error_name(true, 9), "CUDA_ERROR_9");
  EXPECT_EQ(cuda_error_name(false, 700), "cudaErrorIllegalAddress");
  EXPECT_EQ(cuda_error_name(false, 54'321), "cudaError54321");
}

TEST_F(Kinds, ExternalIdsOfTheCallAreItsKernels) {
  ExternalRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.correlationId = 8;
  record.externalId = UINT64_MAX - 1;
  records_.add(record);
  record.externalId = 5;  // an outer one
  records_.add(record);
  for (const uint32_t id : {8u, 9u}) {
    records_.call(id, kThread, kSecondNs);
    records_.kernel(id, kContext, kSecondNs);
  }
  finish();
  EXPECT_EQ(sink_.column(Kind::Kernel, format::kernel_column::kExternal),
            (std::vector<int64_t>{-2, 0}));
}

TEST_F(Kinds, QueueTimesAreThereWhenAskedFor) {
  KernelRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.correlationId = 1;
  record.queued = kSecondNs + 1;
  record.start = kSecondNs + 3;
  record.end = kSecondNs + 4;
  records_.add(record, 216);
  finish();
  ASSERT_EQ(rows(Kind::Kernel).size(), 1u);
  EXPECT_EQ(rows(Kind::Kernel)[0][format::kernel_column::kQueued], kSecondNs + 1);
  EXPECT_EQ(rows(Kind::Kernel)[0][format::kernel_column::kSubmitted], -1) << "unknown";
}

TEST_F(Kinds, OverheadIsSummedByReason) {
  const auto overhead = [&](uint32_t kind, uint64_t ns) {
    OverheadRecord record{};
    record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
    record.overheadKind = static_cast<CUpti_ActivityOverheadKind>(kind);
    record.start = kSecondNs;
    record.end = kSecondNs + ns;
    records_.add(record, 56);
  };
  overhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, 100);
  overhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, 20);
  overhead(7 << 16, 3);                                      // a buffer was asked for
  overhead(CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER, 4'000);  // of the program's own
  finish();
  EXPECT_EQ(decoder_.overhead_ns().at(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH), 120u);
  EXPECT_EQ(decoder_.overhead_ns().at(CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER), 4'000u);
  EXPECT_EQ(decoder_.cupti_overhead_ns(), 123u);
}

TEST_F(Kinds, PartsOfAGpuAreNamed) {
  DeviceRecord device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.id = 2;
  records_.add(device, 184);
  device.isMigEnabled = 1;
  device.gpuInstanceId = 4;
  device.computeInstanceId = 1;
  std::memset(device.migUuid.bytes, 0xAB, sizeof device.migUuid.bytes);
  records_.add(device, 184);
  ContextRecord context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 6;
  context.deviceId = 2;
  context.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
  records_.add(context, 32);
  context.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA_MPS;
  records_.add(context, 32);
  SyncRecord wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.start = wait.end = kSecondNs;
  wait.contextId = 6;
  records_.add(wait, 56);
  finish();
  const auto& events = sink_.lines[Kind::Event];
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["name"].as_string(), "mig_instance");
  EXPECT_EQ(events[0]["device"].as_integer(), 2);
  EXPECT_EQ(events[0]["gpu_instance"].as_integer(), 4);
  EXPECT_EQ(events[0]["uuid"].as_string(), "MIG-abababab-abab-abab-abab-abababababab");
  EXPECT_EQ(events[1]["name"].as_string(), "mps_context");
  EXPECT_EQ(events[1]["context"].as_integer(), 6);
  // A context's record tells its device before any work does.
  EXPECT_EQ(rows(Kind::Sync).at(0)[format::sync_column::kDevice], 2);
}

TEST_F(Kinds, AGraphLaunchSpansItsNodes) {
  namespace graph = format::graph_column;
  sink_.scopes = [](int64_t, int64_t) { return ScopeRef{9, false}; };
  note(CallNoteKind::GraphLaunch, 1, kSecondNs, 42);
  records_.call(1, kThread, kSecondNs, 0, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000);
  for (uint64_t node = 1; node <= 4; ++node) {
    const auto later_ns = static_cast<int64_t>(1'000 * (5 - node));
    records_.kernel(1, kContext, kSecondNs + later_ns, 500, node);
  }
  MemsetRecord fill{};
  fill.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  fill.start = kSecondNs + 9'000;
  fill.end = kSecondNs + 9'100;
  fill.contextId = kContext;
  fill.correlationId = 1;
  fill.graphNodeId = 5;
  fill.graphId = 5;
  records_.add(fill);
  finish();
  ASSERT_EQ(rows(Kind::Graph).size(), 1u);
  const auto& row = rows(Kind::Graph)[0];
  EXPECT_EQ(row[graph::kStart], kSecondNs + 1'000);
  EXPECT_EQ(row[graph::kDuration], 8'100);
  EXPECT_EQ(row[graph::kNodes], 5);
  EXPECT_EQ(row[graph::kGraph], 5);
  EXPECT_EQ(row[graph::kCorrelation], 1);
  EXPECT_EQ(row[graph::kApiStart], kSecondNs);
  EXPECT_EQ(row[graph::kScope], 9);
  EXPECT_EQ(row[graph::kStack], 42);
  EXPECT_EQ(rows(Kind::Kernel).size(), 4u);
  EXPECT_TRUE(rows(Kind::Api).empty());
}

TEST_F(Kinds, GraphLaunchesAreToldWhenTheNextBegins) {
  const auto launch_graph = [&](uint32_t id, uint64_t nodes) {
    note(CallNoteKind::GraphLaunch, id);
    records_.call(id, kThread, kSecondNs, 0, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000);
    for (uint64_t i = 1; i <= nodes; ++i) records_.kernel(id, kContext, kSecondNs, 10, i);
  };
  launch_graph(1, 3);
  decode();
  decode();
  EXPECT_TRUE(rows(Kind::Graph).empty()) << "more may come";
  launch_graph(2, 3);
  decode();
  decode();
  EXPECT_EQ(rows(Kind::Graph).size(), 2u) << "the first was followed, the second is as long";
  launch_graph(3, 2);
  for (int i = 0; i < 30; ++i) decode();
  ASSERT_EQ(rows(Kind::Graph).size(), 3u);
  EXPECT_EQ(rows(Kind::Graph)[2][format::graph_column::kNodes], 2);
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.graph_kernels_missing, 0u);
  EXPECT_EQ(counts.missing, 0u);
  EXPECT_EQ(account().uncounted, (std::set<std::string, std::less<>>{"conditional_graph_nodes"}));
}

TEST_F(Kinds, NodesOfGraphsHaveTheStackOfTheirCapture) {
  decoder_.account().note(GraphNodeNote{.node = 100, .original = 0, .stack = 55}, sink_);
  decoder_.account().note(GraphNodeNote{.node = 200, .original = 100, .stack = 0}, sink_);
  note(CallNoteKind::GraphLaunch, 1, kSecondNs, 42);
  records_.call(1, kThread, kSecondNs);
  records_.kernel(1, kContext, kSecondNs, 10, 200);
  records_.kernel(1, kContext, kSecondNs, 10, 201);
  finish();
  EXPECT_EQ(sink_.column(Kind::Kernel, format::kernel_column::kNodeStack),
            (std::vector<int64_t>{55, 0}));
  EXPECT_EQ(sink_.column(Kind::Kernel, format::kernel_column::kStack),
            (std::vector<int64_t>{42, 42}));
}

TEST_F(Kinds, KernelsThatKernelsLaunchedAreCounted) {
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = kSecondNs;
  record.end = kSecondNs + 1;
  record.isDeviceLaunched = 1;
  records_.add(record);
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.device_launched, 1u);
  EXPECT_EQ(account().uncounted, (std::set<std::string, std::less<>>{"device_side_launches"}));
}

TEST_F(Kinds, RecordsOfNoLaunchAreNoSignOfThoseWhereCuptiSays) {
  records_.call(1, kThread, kSecondNs);
  records_.kernel(1, kContext, kSecondNs);
  EXPECT_EQ(finish().unclaimed, 1u);
  EXPECT_TRUE(account().uncounted.empty());
}

TEST_F(Kinds, CountsAreKeptByDevice) {
  note(CallNoteKind::Launch, 1);
  note(CallNoteKind::Launch, 2);
  records_.kernel(1, kContext, kSecondNs);
  finish();
  const format::Ledger ledger = account();
  ASSERT_EQ(ledger.by_device.size(), 1u);
  EXPECT_EQ(ledger.by_device.at(0).launches, 2u);
  EXPECT_EQ(ledger.by_device.at(0).kernel_records, 1u);
  EXPECT_EQ(ledger.by_device.at(0).launches_missing, 1u);
}

}  // namespace
}  // namespace gpufl::backend
