// SPDX-License-Identifier: Apache-2.0
// The decoder by itself: records and notes in, rows and counts out. The names of functions and the
// sizes of records are the stand-in libcupti's.

#include <dlfcn.h>

#include <gtest/gtest.h>

#include "tests/standin/cupti/cupti_standin.hpp"
#include "tests/trace/decoder_fixture.hpp"

namespace gpufl::backend {
namespace {

using format::Kind;
namespace kernel = format::kernel_column;
namespace pending = format::pending_column;

TEST_F(Decoder, OneKernelInTenThousandMissingIsFound) {
  for (uint32_t id = 1; id <= 30'000; ++id) {
    launch(id);
    if (id % 10'000 != 6'789) records_.kernel(id, kContext, kSecondNs);
    if (id % 5'000 == 0) decode();
  }
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.launches, 30'000u);
  EXPECT_EQ(counts.kernels, 29'997u);
  EXPECT_EQ(counts.missing, 3u);
  EXPECT_EQ(counts.unclaimed, 0u);
  format::Ledger ledger;
  decoder_.account().fill_ledger(true, ledger);
  EXPECT_EQ(ledger.launches_missing, 3u);
  EXPECT_EQ(ledger.by_device.at(0).launches_missing, 3u);
  EXPECT_EQ(ledger.completeness(), format::Completeness::Incomplete);
}

TEST_F(Decoder, SurplusRecordsDoNotHideAMissingOne) {
  for (uint32_t id = 1; id <= 100; ++id) {
    launch(id);
    if (id != 50) records_.kernel(id, kContext, kSecondNs);
  }
  records_.kernel(51, kContext, 2 * kSecondNs);     // a second one for the same call
  records_.kernel(1'000'000, kContext, kSecondNs);  // that nobody launched
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.kernels, 101u);
  EXPECT_EQ(counts.missing, 1u);
  EXPECT_EQ(counts.unclaimed, 2u);
  EXPECT_EQ(sink_.rows[Kind::Kernel].size(), 101u);
}

// Before 13.0 CUPTI does not say which kernels other kernels launched.
TEST_F(Decoder, OnlyANotedLaunchCanShowThatKernelsLaunchKernels) {
  auto* const standin = reinterpret_cast<standin::CuptiStandinFunction*>(
      dlsym(dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW), "cupti_standin"))();
  const auto uncounted_with = [&](uint32_t launches, auto add_records) {
    standin->reset(28);
    ActivityDecoder decoder(cupti_->api(), devices_, {});
    standin->reset(130'001);
    CallNote launch{};
    launch.kind = CallNoteKind::Launch;
    launch.correlation = 1;
    for (uint32_t i = 0; i < launches; ++i) decoder.joiner().note(launch, kThread, sink_);
    add_records();
    records_.decode(decoder, 3'600 * kSecondNs, sink_);
    decoder.joiner().finish(sink_);
    EXPECT_EQ(decoder.account().counts().unclaimed, 1u);
    format::Ledger ledger;
    decoder.account().fill_ledger(true, ledger);
    return ledger.uncounted.contains("device_side_launches");
  };
  const auto kernels = [&](int count) {
    return [this, count] {
      records_.call(1, kThread, 2 * kSecondNs);
      for (int i = 0; i < count; ++i) records_.kernel(1, kContext, (2 + i) * kSecondNs);
    };
  };
  EXPECT_TRUE(uncounted_with(1, kernels(2)));
  EXPECT_FALSE(uncounted_with(0, kernels(1)));
  EXPECT_FALSE(uncounted_with(0, [&] { records_.kernel(1, kContext, 2 * kSecondNs); }));
  EXPECT_TRUE(uncounted_with(0, [&] { records_.kernel(0, kContext, 2 * kSecondNs); }));
}

TEST_F(Decoder, NotReadyIsAnAnswer) {
  constexpr CUpti_CallbackId kQuery = CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020;
  records_.call(1, kThread, kSecondNs, CUDA_ERROR_NOT_READY, kQuery);
  records_.call(2, kThread, kSecondNs, CUDA_ERROR_LAUNCH_FAILED, kQuery);
  finish();
  EXPECT_EQ(sink_.column(Kind::Api, format::api_column::kCorrelation), (std::vector<int64_t>{2}));
}

TEST_F(Decoder, NotesMayComeAfterTheRecords) {
  records_.kernel(7, kContext, kSecondNs);
  records_.call(7, kThread, kSecondNs);
  decode();
  note(CallNoteKind::Launch, 7);
  EXPECT_EQ(decoder_.account().pending(10).count, 0u);
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.missing, 0u);
  EXPECT_EQ(counts.unclaimed, 0u);
}

// Its entry has to make room, but it is not called lost, and finds its call when it ends.
TEST_F(Decoder, AKernelMayRunWhileManyCallsAreMade) {
  launch(5, kSecondNs);
  constexpr uint32_t kLater = 3 * CallTable::kCapacity;
  for (uint32_t id = 6; id < 6 + kLater; ++id) {
    launch(id, 2 * kSecondNs);
    records_.kernel(id, kContext, 2 * kSecondNs);
    if (id % 3'000 == 0) decode();
  }
  decode();
  EXPECT_EQ(decoder_.account().counts().missing, 0u);
  EXPECT_EQ(decoder_.account().pending(10).count, 1u);
  records_.kernel(5, kContext, kSecondNs + 500, 60 * kSecondNs);
  decode();
  EXPECT_EQ(decoder_.account().pending(10).count, 0u);
  const auto& last = sink_.rows[Kind::Kernel].back();
  EXPECT_EQ(last[kernel::kCorrelation], 5);
  EXPECT_EQ(last[kernel::kApiStart], kSecondNs);
  EXPECT_EQ(last[kernel::kThread], kThread);
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.missing, 0u);
  EXPECT_EQ(counts.unclaimed, 0u);
}

// What a library launches through the driver may have no record: then its row waits some flushes in
// vain, and has what was noted of the call.
TEST_F(Decoder, ACallThatARowWaitsForIsKeptWhileManyCallsAreMade) {
  note(CallNoteKind::Launch, 5, kSecondNs);
  records_.kernel(5, kContext, kSecondNs + 500);
  decode();
  launch(5 + CallTable::kCapacity, 2 * kSecondNs);
  records_.kernel(5 + CallTable::kCapacity, kContext, 2 * kSecondNs);
  for (int i = 0; i < 8; ++i) decode();
  ASSERT_EQ(sink_.rows[Kind::Kernel].size(), 2u);
  const auto& last = sink_.rows[Kind::Kernel].back();
  EXPECT_EQ(last[kernel::kCorrelation], 5);
  EXPECT_EQ(last[kernel::kApiStart], kSecondNs);
  EXPECT_EQ(last[kernel::kThread], kThread);
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.missing, 0u);
  EXPECT_EQ(counts.unclaimed, 0u);
}

TEST_F(Decoder, IdsWrap) {
  const uint32_t first = UINT32_MAX - 200'000;
  uint32_t id = first, launches = 0;
  launch(first);  // runs until after the wrap
  for (++id; id != 200'000; ++id) {
    if (id == 0) continue;
    launch(id);
    ++launches;
    if (id != 77) records_.kernel(id, kContext, kSecondNs);
    if (id % 3'000 == 0) decode();
  }
  decode();
  EXPECT_EQ(decoder_.account().pending(10).count, 2u);
  records_.kernel(first, kContext, kSecondNs, 60 * kSecondNs);
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.launches, launches + 1u);
  EXPECT_EQ(counts.missing, 1u);
  EXPECT_EQ(counts.unclaimed, 0u);
  for (const auto& row : sink_.rows[Kind::Kernel]) ASSERT_EQ(row[kernel::kThread], kThread);
}

// An id that is used again, 2^32 calls later, while the first is still put aside: the first is
// lost.
TEST_F(Decoder, AnIdIsUsedAgain) {
  launch(9);
  for (uint32_t id = 9 + CallTable::kCapacity; id < 40 + CallTable::kCapacity; ++id) {
    launch(id);
    records_.kernel(id, kContext, kSecondNs);
  }
  decode();
  EXPECT_EQ(decoder_.account().pending(10).count, 1u);
  for (uint32_t id = 9 + (uint32_t{1} << 31); id != 9; id += CallTable::kCapacity) {
    launch(id);
    records_.kernel(id, kContext, kSecondNs);
    decode();
  }
  launch(9);
  records_.kernel(9, kContext, kSecondNs);
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.missing, 1u);
  EXPECT_EQ(counts.unclaimed, 0u);
}

TEST_F(Decoder, WhatDoesNotEndIsTold) {
  sink_.scopes = [](int64_t thread, int64_t) {
    return ScopeRef{thread == kThread ? 12 : 0, false};
  };
  records_.kernel(1, kContext, kSecondNs);
  note(CallNoteKind::Launch, 1, kSecondNs);
  note(CallNoteKind::Launch, 2, kSecondNs + 10);
  note(CallNoteKind::CallBegin, 3, kSecondNs + 20);
  decode(true, kSecondNs + 100'000'000);
  EXPECT_TRUE(sink_.rows[Kind::Pending].empty());
  const PendingList list = decoder_.account().pending(1);
  EXPECT_EQ(list.count, 2u);
  ASSERT_EQ(list.oldest.size(), 1u);
  EXPECT_EQ(list.oldest[0].function, "cuLaunchKernel");
  EXPECT_EQ(list.oldest[0].correlation, 2);
  EXPECT_EQ(list.oldest[0].thread, kThread);
  EXPECT_EQ(list.oldest[0].device, 0);
  EXPECT_EQ(list.oldest[0].scope, 12);

  decode(true, kSecondNs + 300'000'000);
  decode(true, kSecondNs + 400'000'000);
  const auto& rows = sink_.rows[Kind::Pending];
  ASSERT_EQ(rows.size(), 2u) << "each once";
  EXPECT_EQ(rows[0][pending::kCorrelation], 2);
  EXPECT_EQ(rows[0][pending::kTime], kSecondNs + 10);
  EXPECT_EQ(rows[0][pending::kScope], 12);
  EXPECT_EQ(rows[0][pending::kDevice], 0);
  EXPECT_EQ(rows[0][pending::kStack], RecordingSink::kAbsent);
  EXPECT_EQ(sink_.value(format::Dict::Name, rows[1][pending::kFunction]), "cuStreamSynchronize");

  records_.kernel(2, kContext, 2 * kSecondNs);
  records_.call(3, kThread, kSecondNs + 20);
  decode();
  EXPECT_EQ(decoder_.account().pending(10).count, 0u);
  EXPECT_TRUE(decoder_.account().pending(10).oldest.empty());
}

TEST_F(Decoder, AThousandThatHangAreToldOverSeveralRounds) {
  for (uint32_t id = 1; id <= 1'000; ++id) note(CallNoteKind::Launch, id, kSecondNs + id);
  size_t before = 0;
  for (int round = 0; round < 4; ++round) {
    decode(true, 2 * kSecondNs);
    EXPECT_LE(sink_.rows[Kind::Pending].size() - before, 256u);
    before = sink_.rows[Kind::Pending].size();
  }
  ASSERT_EQ(before, 1'000u);
  for (uint32_t id = 1; id <= 1'000; ++id) {
    EXPECT_EQ(sink_.rows[Kind::Pending][id - 1][pending::kCorrelation], id);
  }
}

TEST_F(Decoder, RowsOfAGpuHaveTheScopeOfTheirCall) {
  sink_.scopes = [](int64_t, int64_t time_ns) { return ScopeRef{time_ns, true}; };
  launch(1, kSecondNs + 1);
  records_.kernel(1, kContext, 2 * kSecondNs);
  records_.call(2, kThread, kSecondNs + 2);  // a call that nobody noted
  records_.kernel(2, kContext, 2 * kSecondNs);
  finish();
  ASSERT_EQ(sink_.rows[Kind::Kernel].size(), 2u);
  for (const auto& row : sink_.rows[Kind::Kernel]) {
    EXPECT_EQ(row[kernel::kScope], row[kernel::kApiStart]);
    EXPECT_EQ(row[kernel::kInherited], 1);
  }
}

TEST_F(Decoder, AGraphLaunchWithoutAnyRecordIsNamed) {
  note(CallNoteKind::GraphLaunch, 1);
  note(CallNoteKind::GraphLaunch, 2);
  for (uint64_t node = 1; node <= 3; ++node) records_.kernel(1, kContext, kSecondNs, 100, node);
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.graph_launches, 2u);
  EXPECT_EQ(counts.graph_kernels, 3u);
  EXPECT_EQ(counts.silent_graph_launches, 1u);
  EXPECT_EQ(counts.missing, 0u);
  EXPECT_EQ(counts.unclaimed, 0u);
}

// Steps of CUPTI's clock: inside of a graph launch, and between two.
TEST_F(Decoder, NodesThatOverlapTheOneBeforeAreRowsAndCounted) {
  constexpr uint32_t kStream = 7;
  note(CallNoteKind::GraphLaunch, 1);
  note(CallNoteKind::GraphLaunch, 2);
  const auto node = [&](uint32_t launch, uint64_t number, int64_t start_ns) {
    records_.kernel(launch, kContext, kSecondNs + start_ns, 1'000, number, kStream);
  };
  node(1, 1, 20'000);
  node(1, 2, 21'100);
  node(1, 3, 16'100);  // 6 us back, before the one before began
  node(1, 4, 17'200);
  node(2, 1, 18'100);  // 100 ns back
  node(2, 2, 19'200);
  EXPECT_EQ(finish().impossible_times, 0u);
  EXPECT_EQ(sink_.rows[Kind::Kernel].size(), 6u);
  format::Ledger ledger;
  decoder_.account().fill_ledger(true, ledger);
  EXPECT_EQ(ledger.kernels_overlapping, 2u);
  EXPECT_EQ(ledger.most_overlap_ns, 6'000u);
  EXPECT_TRUE(ledger.is_complete());
}

TEST_F(Decoder, KernelsThatRunAtTheEndAreNoBadTimes) {
  launch(1);
  launch(2);
  records_.kernel_without_times(1, kContext);
  decode();
  EXPECT_EQ(decoder_.account().counts().impossible_times, 1u);
  decoder_.account().expect_unfinished();
  records_.kernel_without_times(2, kContext);
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.impossible_times, 1u);
  EXPECT_EQ(counts.unfinished, 1u);
  EXPECT_EQ(counts.missing, 0u);
}

class SecondsTwoToThree : public CaptureGate {
 public:
  bool is_open(int64_t time_ns) const override {
    return time_ns >= 2 * kSecondNs && time_ns < 3 * kSecondNs;
  }
  void on_profiler_start(int64_t) noexcept override {}
  void on_profiler_stop(int64_t) noexcept override {}
};

SecondsTwoToThree gate;

class DecoderWithStacks : public Decoder {
 protected:
  DecoderWithStacks() : Decoder({.call_records = true, .stacks = &stacks}) {}
};

TEST_F(DecoderWithStacks, RowsHaveTheStackOfTheirCall) {
  note(CallNoteKind::Launch, 1, kSecondNs, 77);
  records_.call(1, kThread, kSecondNs);
  records_.kernel(1, kContext, kSecondNs);
  finish();
  ASSERT_EQ(sink_.rows[Kind::Kernel].size(), 1u);
  EXPECT_EQ(sink_.rows[Kind::Kernel][0][kernel::kStack], 77);
}

class DecoderWithGate : public Decoder {
 protected:
  DecoderWithGate() : Decoder({.call_records = true, .gate = &gate}) {}
};

// By when the call began, whenever the kernel ran.
TEST_F(DecoderWithGate, CallsOutsideAreCountedOnly) {
  launch(1, kSecondNs);
  launch(2, 2 * kSecondNs);
  launch(3, 3 * kSecondNs);
  for (const uint32_t id : {1, 2, 3}) records_.kernel(id, kContext, 3 * kSecondNs);
  records_.call(4, kThread, kSecondNs, 1);  // failed
  const CallCounts& counts = finish();
  EXPECT_EQ(counts.kernels, 3u);
  EXPECT_EQ(counts.missing, 0u);
  EXPECT_EQ(counts.outside, 2u);
  EXPECT_EQ(sink_.column(Kind::Kernel, kernel::kCorrelation), (std::vector<int64_t>{2}));
  EXPECT_TRUE(sink_.rows[Kind::Api].empty());
}

TEST(ApiRoleTest, ByName) {
  for (const char* name : {"cudaLaunchKernel_v7000", "cuLaunchKernelEx", "cudaMemcpyAsync_v3020",
                           "cuMemsetD8Async", "cudaStreamSynchronize_v3020", "cudaGraphLaunch",
                           "cuStreamWaitEvent", "cudaEventSynchronize_v3020"}) {
    EXPECT_EQ(api_role(name), ApiRole::Activity) << name;
  }
  for (const char* name : {"cudaMalloc_v3020", "cuMemAlloc_v2", "cudaFreeAsync_v11020",
                           "cudaHostAlloc_v3020", "cuMemFree_v2", "cuMemCreate"}) {
    EXPECT_EQ(api_role(name), ApiRole::Memory) << name;
  }
  for (const char* name : {"cudaGetDevice_v3020", "cuCtxGetCurrent", "cudaLaunchHostFunc_v10000",
                           "cudaStreamBeginCapture_v10000"}) {
    EXPECT_EQ(api_role(name), ApiRole::Other) << name;
  }
}

}  // namespace
}  // namespace gpufl::backend
