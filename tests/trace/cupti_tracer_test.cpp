// SPDX-License-Identifier: Apache-2.0
// The tracer over the stand-in libcupti (tests/standin/cupti): the program, the GPU and the faults
// are played, everything from CUPTI's functions on is real.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "backend/nvidia/cupti/activity_buffers.hpp"
#include "tests/trace/tracer_fixture.hpp"

namespace gpufl::backend {
namespace {

using format::Kind;
using standin::BadTime;
using standin::Launch;
namespace kernel = format::kernel_column;

class Cupti : public TracerFixture {};

TEST_F(Cupti, EveryLaunchIsAKernelWithItsCallAndConfiguration) {
  ASSERT_TRUE(start().available);
  std::map<int64_t, Launch> launched;
  for (int i = 0; i < 10'000; ++i) {
    Launch launch;
    launch.name = i % 3 == 0 ? "gemm" : "relu";
    launch.device = static_cast<uint32_t>(i % 2);
    launch.context = launch.device + 1;
    launch.stream = static_cast<uint32_t>(7 + i % 5);
    launch.grid_x = 1 + i % 4;
    launch.duration_ns = 1000 + static_cast<uint64_t>(i);
    launch.by_driver = i % 7 == 0;
    launched[standin_->launch(launch)] = launch;
    if (i % 2500 == 0) drain();
  }
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, 10'000u);
  EXPECT_EQ(ledger.kernel_records, 10'000u);
  EXPECT_EQ(ledger.graph_kernel_records, 0u);
  EXPECT_EQ(ledger.vendor_dropped, 0u);
  EXPECT_EQ(ledger.impossible_times, 0u);
  EXPECT_TRUE(ledger.is_complete());

  ASSERT_EQ(rows(Kind::Kernel).size(), 10'000u);
  for (const auto& row : rows(Kind::Kernel)) {
    const auto found = launched.find(row[kernel::kCorrelation]);
    ASSERT_NE(found, launched.end());
    const Launch& launch = found->second;
    EXPECT_EQ(row[kernel::kDuration], static_cast<int64_t>(launch.duration_ns));
    EXPECT_EQ(row[kernel::kDevice], launch.device);
    EXPECT_EQ(row[kernel::kContext], launch.context);
    EXPECT_EQ(row[kernel::kStream], launch.stream);
    EXPECT_EQ(row[kernel::kThread], gettid());
    EXPECT_EQ(row[kernel::kGraph], 0);
    EXPECT_GE(row[kernel::kApiStart], 0);
    EXPECT_GE(row[kernel::kStart], row[kernel::kApiStart]);
    const auto config = base::Json::parse(sink_.value(format::Dict::Config, row[kernel::kConfig]));
    ASSERT_TRUE(config.is_ok());
    EXPECT_EQ(sink_.value(format::Dict::Name, (*config)["name"].as_integer()), launch.name);
    EXPECT_EQ((*config)["grid"].dump(), "[" + std::to_string(launch.grid_x) + ",1,1]");
    EXPECT_EQ((*config)["registers"].as_integer(), 24);
    EXPECT_EQ((*config)["shared_dynamic"].as_integer(), 1024);
    EXPECT_EQ((*config)["cache"].as_string(), "shared");
    launched.erase(found);
  }
  // What a kernel's row tells of its call is not told again.
  EXPECT_TRUE(rows(Kind::Api).empty());
  EXPECT_EQ(sink_.dictionaries[format::Dict::Config].size(), 8u);
}

TEST_F(Cupti, RecordsOfEveryVersionAreRead) {
  for (const uint32_t version : {kCupti120, kCupti129, kCupti130, kCupti131}) {
    standin_->reset(version);
    sink_ = {};
    ASSERT_TRUE(start().available) << version;
    for (int i = 0; i < 100; ++i) {
      standin_->launch({});
      standin_->copy({});
      standin_->fill(7, 64, 0xAB);
      standin_->synchronize(1);
    }
    EXPECT_TRUE(finish().is_complete()) << version;
    for (const Kind kind : {Kind::Kernel, Kind::Memcpy, Kind::Memset, Kind::Sync}) {
      EXPECT_EQ(rows(kind).size(), 100u) << version << " " << static_cast<int>(kind);
    }
  }
}

TEST_F(Cupti, CopiesFillsAndWaits) {
  ASSERT_TRUE(start({.call_records = true}).available);
  standin_->launch({});  // tells which device context 1 is on
  standin_->copy({0, 1, 9, 1, 12'345, -1});
  standin_->copy({1, 2, 9, 10, 777, 0});
  standin_->fill(8, 4096, 0xFF);
  standin_->synchronize(1);
  standin_->synchronize(99);
  finish();
  namespace copy = format::memcpy_column;
  ASSERT_EQ(rows(Kind::Memcpy).size(), 2u);
  for (const auto& row : rows(Kind::Memcpy)) {
    const bool is_peer = row[copy::kRoute] == 10;
    EXPECT_EQ(row[copy::kBytes], is_peer ? 777 : 12'345);
    EXPECT_EQ(row[copy::kDevice], is_peer ? 1 : 0);
    EXPECT_EQ(row[copy::kPeerDevice], is_peer ? 0 : RecordingSink::kAbsent);
    EXPECT_EQ(row[copy::kDuration], 500);
    EXPECT_EQ(row[copy::kAsync], 1);
    EXPECT_EQ(row[copy::kSourceMemory], 2);
    EXPECT_EQ(row[copy::kTargetMemory], 3);
    EXPECT_EQ(row[copy::kThread], gettid());
  }
  namespace fill = format::memset_column;
  ASSERT_EQ(rows(Kind::Memset).size(), 1u);
  EXPECT_EQ(rows(Kind::Memset)[0][fill::kBytes], 4096);
  EXPECT_EQ(rows(Kind::Memset)[0][fill::kValue], 0xFF);
  EXPECT_EQ(rows(Kind::Memset)[0][fill::kMemory], 3);
  namespace wait = format::sync_column;
  ASSERT_EQ(rows(Kind::Sync).size(), 2u);
  for (const auto& row : rows(Kind::Sync)) {
    EXPECT_EQ(row[wait::kDevice], row[wait::kContext] == 1 ? 0 : RecordingSink::kAbsent);
    EXPECT_EQ(row[wait::kStream], -1);
    EXPECT_EQ(row[wait::kEventId], -1);
    EXPECT_EQ(row[wait::kDuration], 100);
  }
}

TEST_F(Cupti, WaitsAreLeftOutWhenNotWanted) {
  ASSERT_TRUE(start({.synchronization = false}).available);
  standin_->synchronize(1);
  finish();
  EXPECT_TRUE(rows(Kind::Sync).empty());
}

TEST_F(Cupti, AllocationsAndFailuresAreApiRows) {
  ASSERT_TRUE(start().available);
  standin_->allocate(0);
  standin_->allocate(2);
  Launch refused;
  refused.result = 1;
  standin_->launch(refused);
  const format::Ledger ledger = finish();
  namespace api = format::api_column;
  std::map<std::string, std::multiset<int64_t>> results;
  for (const auto& row : rows(Kind::Api)) {
    results[sink_.value(format::Dict::Name, row[api::kName])].insert(row[api::kResult]);
  }
  EXPECT_EQ(results["cudaMalloc"], (std::multiset<int64_t>{0, 2}));
  EXPECT_EQ(results["cudaLaunchKernel"], (std::multiset<int64_t>{1}));
  // A launch that failed is none.
  EXPECT_EQ(ledger.launches_seen, 0u);
  EXPECT_TRUE(ledger.is_complete());
}

TEST_F(Cupti, OneWithheldKernelMakesTheSessionIncomplete) {
  ASSERT_TRUE(start().available);
  for (int i = 0; i < 10'000; ++i) {
    Launch launch;
    launch.withheld = i == 6'789;
    standin_->launch(launch);
  }
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.vendor_dropped, 0u);
  EXPECT_EQ(ledger.launches_seen, 10'000u);
  EXPECT_EQ(ledger.kernel_records, 9'999u);
  EXPECT_FALSE(ledger.is_complete());
  // The call without a kernel is in the log by itself.
  EXPECT_EQ(rows(Kind::Api).size(), 1u);
}

TEST_F(Cupti, KernelsOfGraphsAreCountedApart) {
  ASSERT_TRUE(start().available);
  Launch graph;
  graph.graph_kernels = 20;
  const uint32_t id = standin_->launch(graph);
  standin_->launch({});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, 1u);
  EXPECT_EQ(ledger.graph_launches, 1u);
  EXPECT_EQ(ledger.kernel_records, 21u);
  EXPECT_EQ(ledger.graph_kernel_records, 20u);
  EXPECT_TRUE(ledger.is_complete());
  std::set<int64_t> nodes;
  for (const auto& row : rows(Kind::Kernel)) {
    if (row[kernel::kCorrelation] != id) continue;
    EXPECT_EQ(row[kernel::kGraph], 5);
    EXPECT_GE(row[kernel::kApiStart], 0);  // all share the one call
    nodes.insert(row[kernel::kGraphNode]);
  }
  EXPECT_EQ(nodes.size(), 20u);
}

TEST_F(Cupti, ALaunchIntoAGraphIsNoLaunch) {
  ASSERT_TRUE(start().available);
  standin_->capture(true);
  Launch captured;
  captured.captured = true;
  for (int i = 0; i < 5; ++i) standin_->launch(captured);
  standin_->capture(false);
  standin_->capture(false);  // one that began before the session
  standin_->launch({});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, 1u);
  EXPECT_EQ(ledger.kernel_records, 1u);
  EXPECT_TRUE(ledger.is_complete());
}

TEST_F(Cupti, ImpossibleTimesAreCountedAndLeftOut) {
  ASSERT_TRUE(start().available);
  for (const BadTime bad :
       {BadTime::None, BadTime::Zero, BadTime::Inverted, BadTime::BeforeSession, BadTime::Future}) {
    Launch launch;
    launch.bad_time = bad;
    standin_->launch(launch);
  }
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.kernel_records, 5u);
  EXPECT_EQ(ledger.impossible_times, 4u);
  EXPECT_FALSE(ledger.is_complete());
  EXPECT_EQ(rows(Kind::Kernel).size(), 1u);
}

TEST_F(Cupti, KernelsWaitForCallsThatArriveLater) {
  ASSERT_TRUE(start({.call_records = true}).available);
  standin_->hold_calls(true);
  for (int i = 0; i < 100; ++i) standin_->launch({});
  pass_time(kFlushNs);
  drain();
  EXPECT_TRUE(rows(Kind::Kernel).empty());
  standin_->hold_calls(false);
  pass_time(kFlushNs);
  drain();
  ASSERT_EQ(rows(Kind::Kernel).size(), 100u);
  for (const auto& row : rows(Kind::Kernel)) EXPECT_EQ(row[kernel::kThread], gettid());
  EXPECT_TRUE(finish().is_complete());
}

TEST_F(Cupti, AKernelWhoseCallNeverComesIsToldWithItsNoteAlone) {
  ASSERT_TRUE(start({.call_records = true}).available);
  standin_->hold_calls(true);
  standin_->launch({});
  for (int i = 0; i < 6; ++i) {
    pass_time(kFlushNs);
    drain();
  }
  ASSERT_EQ(rows(Kind::Kernel).size(), 1u);
  EXPECT_GE(rows(Kind::Kernel)[0][kernel::kApiStart], 0);
  EXPECT_EQ(rows(Kind::Kernel)[0][kernel::kApiDuration], -1);
  finish();
}

TEST_F(Cupti, CorrelationIdsWrap) {
  ASSERT_TRUE(start().available);
  standin_->next_correlation(UINT32_MAX - 50);
  for (int i = 0; i < 100; ++i) standin_->launch({});
  finish();
  ASSERT_EQ(rows(Kind::Kernel).size(), 100u);
  for (const auto& row : rows(Kind::Kernel)) EXPECT_GE(row[kernel::kApiStart], 0);
}

TEST_F(Cupti, KernelsThatOverlapTheOneBeforeOnTheirStreamAreCounted) {
  ASSERT_TRUE(start().available);
  Launch launch;
  launch.withheld = true;
  Launch elsewhere = launch;
  elsewhere.stream = launch.stream + 1;
  const uint32_t first = standin_->launch(launch), second = standin_->launch(launch),
                 third = standin_->launch(launch), alone = standin_->launch(elsewhere);
  launch.withheld = elsewhere.withheld = false;
  const auto now_ns = static_cast<uint64_t>(base::monotonic_ns());
  standin_->kernel(launch, first, now_ns, now_ns + 1'000);
  standin_->kernel(elsewhere, alone, now_ns, now_ns + 1'000);
  standin_->kernel(launch, second, now_ns + 700, now_ns + 2'000);
  standin_->kernel(launch, third, now_ns + 2'000, now_ns + 3'000);
  const format::Ledger ledger = finish();
  EXPECT_EQ(rows(Kind::Kernel).size(), 4u);
  EXPECT_EQ(ledger.kernels_overlapping, 1u);
  EXPECT_EQ(ledger.most_overlap_ns, 300u);
  EXPECT_TRUE(ledger.is_complete());
}

TEST_F(Cupti, StoppingGivesCuptiUpAndStartingAgainWorks) {
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(start().available) << round;
    EXPECT_TRUE(standin_->is_subscribed());
    for (int i = 0; i < 10; ++i) standin_->launch({});
    const format::Ledger ledger = finish();
    EXPECT_EQ(ledger.launches_seen, 10u);
    EXPECT_EQ(ledger.kernel_records, 10u);
    EXPECT_FALSE(standin_->is_subscribed());
    EXPECT_EQ(standin_->enabled_kinds(), 0u);
    EXPECT_EQ(standin_->finalized(), static_cast<uint32_t>(round + 1));
    standin_->launch({});  // nobody listens
  }
  EXPECT_EQ(rows(Kind::Kernel).size(), 30u);
}

TEST_F(Cupti, CallsThatReturnMeanwhileFinaliseOnTheirOwnThread) {
  ASSERT_TRUE(start().available);
  std::atomic<bool> done{false};
  std::atomic<bool> launches{false};
  std::thread program([&] {
    for (; !done; launches = true) standin_->launch({});
  });
  EXPECT_TRUE(base::eventually([&] { return launches.load(); }));
  finish();
  // One that got no turn meanwhile does it later.
  EXPECT_TRUE(base::eventually([&] { return standin_->finalized() == 1; }));
  EXPECT_FALSE(standin_->is_subscribed());
  done = true;
  program.join();
}

TEST_F(Cupti, AVersionThatKnowsSeveralSubscribersIsGivenUpTooUnlessItHasAnother) {
  standin_->reset(kCupti133);
  ASSERT_TRUE(start().available);
  standin_->launch({});
  EXPECT_EQ(finish().launches_seen, 1u);
  EXPECT_EQ(standin_->finalized(), 1u);
  EXPECT_FALSE(standin_->is_subscribed());
  tracer_.reset();
  standin_->reset(kCupti133);
  standin_->fail("cuptiSubscribe", CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  ASSERT_TRUE(start().available);
  finish();
  EXPECT_EQ(standin_->finalized(), 0u);
}

TEST_F(Cupti, AnotherSubscriberCostsTheLaunchCountAlone) {
  standin_->fail("cuptiSubscribe", CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  ASSERT_TRUE(start().available);
  const auto limitations = tracer_->limitations();
  ASSERT_EQ(limitations.size(), 1u);
  EXPECT_EQ(limitations[0].feature, "launch_count");
  EXPECT_EQ(limitations[0].why.reason, "another_subscriber");
  EXPECT_NE(limitations[0].why.hint, "");
  standin_->launch({});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, std::nullopt);
  EXPECT_EQ(ledger.kernel_records, 1u);
  EXPECT_EQ(standin_->finalized(), 0u);  // it would take the other's CUPTI away
}

TEST_F(Cupti, RefusalsHaveAName) {
  standin_->fail("cuptiActivityEnable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  const Availability denied = start();
  EXPECT_EQ(denied.reason, "permission_denied");
  EXPECT_EQ(denied.detail, "cuptiActivityEnable(kind): CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)");
  standin_->launch({});  // whose return gives CUPTI up
  EXPECT_FALSE(standin_->is_subscribed());
  tracer_.reset();
  standin_->reset(kCupti130);
  standin_->fail("cuptiActivityRegisterCallbacks", CUPTI_ERROR_UNKNOWN);
  EXPECT_EQ(start().reason, "cupti_error");
  tracer_.reset();
  // Nothing of the refusals stays behind.
  standin_->reset(kCupti130);
  EXPECT_TRUE(start().available);
  finish();
}

TEST_F(Cupti, OneTracerAtATime) {
  ASSERT_TRUE(start().available);
  Availability why;
  const auto second = make_cupti_tracer(CuptiLibrary::open(why), {}, {});
  EXPECT_EQ(second->start(base::monotonic_ns()).reason, "taken");
  standin_->launch({});
  EXPECT_EQ(finish().kernel_records, 1u);
}

TEST_F(Cupti, WithoutTheTimestampCallbackCuptisClockIsConverted) {
  standin_->fail("cuptiActivityRegisterTimestampCallback", CUPTI_ERROR_NOT_SUPPORTED);
  ASSERT_TRUE(start().available);
  const int64_t before = base::monotonic_ns() - session_start_ns_;
  standin_->launch({});
  const int64_t after = base::monotonic_ns() - session_start_ns_;
  EXPECT_EQ(finish().impossible_times, 0u);
  ASSERT_EQ(rows(Kind::Kernel).size(), 1u);
  constexpr int64_t kSlackNs = 1'000'000;
  EXPECT_GE(rows(Kind::Kernel)[0][kernel::kStart], before - kSlackNs);
  EXPECT_LE(rows(Kind::Kernel)[0][kernel::kStart], after + kSlackNs);
}

TEST_F(Cupti, ManyThreadsLaunchWhileTheCollectorDrains) {
  ASSERT_TRUE(start().available);
  constexpr int kThreads = 4, kLaunches = 5'000;
  std::vector<std::thread> threads;
  std::atomic<int> running{kThreads};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kLaunches; ++i) standin_->launch({});
      --running;
    });
  }
  EXPECT_TRUE(drain_until([&] { return running == 0; }));
  for (std::thread& thread : threads) thread.join();
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, uint64_t{kThreads} * kLaunches);
  EXPECT_EQ(ledger.kernel_records, ledger.launches_seen);
  EXPECT_TRUE(ledger.is_complete()) << ledger.to_json().dump();
  std::set<int64_t> seen;
  for (const auto& row : rows(Kind::Kernel)) seen.insert(row[kernel::kThread]);
  EXPECT_EQ(seen.size(), size_t{kThreads});
}

TEST_F(Cupti, AMissingLibraryIsNamed) {
  setenv("GPUFL_CUPTI_LIBRARY", "/nonexistent/libcupti.so.13", 1);
  const Availability why = start();
  EXPECT_EQ(why.reason, "library_not_found");
  EXPECT_NE(why.hint, "");
}

TEST_F(Cupti, IsNotCalledWhereCudasDriverIsNotThere) {
  if (dlopen("libcuda.so.1", RTLD_NOW) != nullptr) GTEST_SKIP() << "this machine has the driver";
  char pattern[] = "/tmp/gpufl_toolkit_XXXXXX";
  const std::filesystem::path toolkit = mkdtemp(pattern);
  std::filesystem::create_directory(toolkit / "lib64");
  std::filesystem::copy_file(GPUFL_STANDIN_CUPTI, toolkit / "lib64" / "libcupti.so.13");
  unsetenv("GPUFL_CUPTI_LIBRARY");
  setenv("CUDA_HOME", toolkit.c_str(), 1);
  const Availability why = start();
  unsetenv("CUDA_HOME");
  std::filesystem::remove_all(toolkit);
  EXPECT_EQ(why.reason, "cuda_not_available");
  EXPECT_NE(why.detail.find("libcuda.so.1"), std::string::npos) << why.detail;
}

TEST(ActivityBuffersTest, AnEmptyPoolGrowsUpToItsBound) {
  ActivityBuffers buffers;
  std::vector<uint8_t*> held;
  // Of the collector's rounds there are too few, as in a burst.
  for (size_t i = 0; i < ActivityBuffers::kMaxBuffers; ++i) {
    if (i % 50 == 0) buffers.refill();
    held.push_back(buffers.take_empty());
    ASSERT_NE(held.back(), nullptr) << i;
  }
  EXPECT_EQ(buffers.counts().refusals, 0u);
  EXPECT_EQ(buffers.take_empty(), nullptr);
  buffers.refill();
  EXPECT_EQ(buffers.take_empty(), nullptr);
  EXPECT_EQ(buffers.counts().refusals, 2u);
  for (uint8_t* data : held) buffers.give_full(data, 0);
  buffers.release_spare();
  EXPECT_EQ(buffers.allocated(), 0u);
}

TEST(ActivityBuffersTest, WhatABurstNeededIsGivenBack) {
  ActivityBuffers buffers;
  constexpr size_t kBurst = 40, kSteady = 3;
  const auto round = [&](size_t used) {
    std::vector<uint8_t*> held;
    while (held.size() < used) {
      buffers.refill();
      uint8_t* data = buffers.take_empty();
      ASSERT_NE(data, nullptr);
      data[0] = 1;
      held.push_back(data);
    }
    for (uint8_t* data : held) buffers.give_empty(data);
    buffers.refill();
  };
  round(kBurst);
  EXPECT_GE(buffers.allocated(), kBurst);
  for (int i = 0; i < 200; ++i) round(kSteady);
  EXPECT_LE(buffers.allocated(), ActivityBuffers::kSpareBuffers + kSteady);
  EXPECT_GE(buffers.allocated(), ActivityBuffers::kSpareBuffers);
  EXPECT_EQ(buffers.counts().refusals, 0u);
}

TEST(ActivityBuffersTest, APoolThatWasGivenUpBeginsAnew) {
  ActivityBuffers buffers;
  for (int session = 0; session < 3; ++session) {
    for (int round = 0; round < 250; ++round) buffers.refill();
    EXPECT_EQ(buffers.allocated(), ActivityBuffers::kSpareBuffers);
    buffers.release_spare();
    EXPECT_EQ(buffers.allocated(), 0u);
  }
}

}  // namespace
}  // namespace gpufl::backend
