// SPDX-License-Identifier: Apache-2.0
// A tracer's life beside forks, hangs and contexts that go: over the stand-in libcupti.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

#include <cupti.h>
#include <gtest/gtest.h>

#include "backend/nvidia/cupti/activity_buffers.hpp"
#include "backend/tracing/note_rings.hpp"
#include "tests/trace/tracer_fixture.hpp"

namespace gpufl::backend {
namespace {

using format::Kind;
using standin::Launch;

class RecordingGate final : public CaptureGate {
 public:
  bool is_open(int64_t) const override { return true; }
  void on_profiler_start(int64_t monotonic_ns) noexcept override { started_ns = monotonic_ns; }
  void on_profiler_stop(int64_t monotonic_ns) noexcept override { stopped_ns = monotonic_ns; }
  std::atomic<int64_t> started_ns{0}, stopped_ns{0};
};

class Lifecycle : public TracerFixture {
 protected:
  bool is_pending(std::string_view function) {
    const TraceStatus status = tracer_->status();
    return std::any_of(status.pending.begin(), status.pending.end(),
                       [&](const PendingCall& call) { return call.function == function; });
  }
};

TEST_F(Lifecycle, AWaitThatHangsIsPendingWithItsStackUntilItReturns) {
  CountingStacks stacks;
  ASSERT_TRUE(start({.stacks = &stacks}).available);
  HeldCall held(callbacks_->device_synchronize);
  // The runtime's call and the driver's inside it are one.
  ASSERT_TRUE(drain_until([&] { return tracer_->status().pending_count == 1; }));
  const PendingCall call = tracer_->status().pending.at(0);
  EXPECT_EQ(call.function, "cudaDeviceSynchronize");
  EXPECT_EQ(call.stack, 1);
  EXPECT_GE(call.time_ns, 0);
  EXPECT_NE(call.thread, gettid());
  held.release();
  EXPECT_TRUE(drain_until([&] { return tracer_->status().pending_count == 0; }));
  EXPECT_EQ(stacks.taken, 1u);
  EXPECT_TRUE(finish().is_complete());
}

TEST_F(Lifecycle, StacksAreTakenAtLaunchesWaitsAndCopiesThatBlock) {
  CountingStacks stacks;
  ASSERT_TRUE(start({.stacks = &stacks}).available);
  standin_->launch({});
  callbacks_->copy_and_wait(nullptr, nullptr);
  callbacks_->device_synchronize(nullptr, nullptr);
  standin_->copy({});  // returns at once
  standin_->allocate(0);
  finish();
  EXPECT_EQ(stacks.taken, 3u);
  ASSERT_EQ(rows(Kind::Kernel).size(), 1u);
  EXPECT_EQ(rows(Kind::Kernel)[0][format::kernel_column::kStack], 1);
}

TEST_F(Lifecycle, NodesOfGraphsKnowTheStackOfTheirCapture) {
  CountingStacks stacks;
  ASSERT_TRUE(start({.stacks = &stacks}).available);
  // Node 1 of the graph that is launched is a copy of the one that was captured, node 2 is not.
  callbacks_->graph_node(101, 0);
  callbacks_->graph_node(1, 101);
  Launch graph;
  graph.graph_kernels = 2;
  standin_->launch(graph);
  finish();
  ASSERT_EQ(rows(Kind::Kernel).size(), 2u);
  for (const auto& row : rows(Kind::Kernel)) {
    EXPECT_EQ(row[format::kernel_column::kStack], 2);
    const bool is_captured = row[format::kernel_column::kGraphNode] == 1;
    EXPECT_EQ(row[format::kernel_column::kNodeStack], is_captured ? 1 : 0);
  }
}

TEST_F(Lifecycle, EveryVariantOfALaunchIsCounted) {
  ASSERT_TRUE(start().available);
  callbacks_->launch_ex(0);
  callbacks_->launch_ex(1);  // refused
  callbacks_->launch_on_devices(3);
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, 4u);
  EXPECT_EQ(ledger.kernel_records, 0u);
  EXPECT_FALSE(ledger.is_complete());
}

TEST_F(Lifecycle, ACaptureOfTheRuntimeIsOneCapture) {
  ASSERT_TRUE(start().available);
  callbacks_->capture(true);
  Launch captured;
  captured.captured = true;
  captured.by_driver = true;
  standin_->launch(captured);
  callbacks_->capture(false);
  standin_->launch({});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, 1u);
  EXPECT_TRUE(ledger.is_complete());
}

TEST_F(Lifecycle, ACaptureEndsWithItsStream) {
  constexpr uint64_t kStream = 9, kAnother = 10;
  ASSERT_TRUE(start().available);
  callbacks_->capture_on(true, kStream);
  callbacks_->destroy_stream(kAnother);
  EXPECT_FALSE(tracer_->may_detach());
  callbacks_->destroy_stream(kStream);
  EXPECT_TRUE(tracer_->may_detach());
  callbacks_->capture_on(true, kStream);
  callbacks_->capture_on(false, kStream);
  EXPECT_TRUE(tracer_->may_detach());
  callbacks_->capture_on(true, kAnother);
  callbacks_->destroy_stream(kStream);  // its handle again, and nothing captures there
  EXPECT_FALSE(tracer_->may_detach());
  callbacks_->capture_on(false, kAnother);
  finish();
}

TEST_F(Lifecycle, NotesBeyondTheRingAreCountedExactly) {
  ASSERT_TRUE(start().available);
  constexpr uint64_t kLaunches = 100'000;
  // Nobody drains.
  for (uint64_t i = 0; i < kLaunches; ++i) standin_->launch({});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, kLaunches);
  EXPECT_EQ(ledger.notes_dropped, kLaunches - kNotesPerThread);
}

TEST_F(Lifecycle, ThreadsThatHaveEndedLeaveTheirNotes) {
  ASSERT_TRUE(start().available);
  constexpr int kThreads = 50;
  for (int i = 0; i < kThreads; ++i) std::thread([&] { standin_->launch({}); }).join();
  EXPECT_EQ(finish().launches_seen, uint64_t{kThreads});
}

TEST_F(Lifecycle, TheProgramsProfilerCallsAreToldAndPassedOn) {
  RecordingGate gate;
  ASSERT_TRUE(start({.gate = &gate}).available);
  callbacks_->profiler(true);
  callbacks_->profiler(false);
  drain();
  EXPECT_EQ(events("profiler_start").size(), 1u);
  EXPECT_EQ(events("profiler_stop").size(), 1u);
  EXPECT_GE(gate.started_ns, session_start_ns_);
  EXPECT_GE(gate.stopped_ns, gate.started_ns);
  finish();
}

TEST_F(Lifecycle, AContextThatIsDestroyedIsFlushedAndTold) {
  ASSERT_TRUE(start().available);
  standin_->launch({});
  const uint32_t before = callbacks_->flushes();
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  EXPECT_EQ(callbacks_->flushes(), before + 1);
  drain();
  ASSERT_EQ(events("context_destroyed").size(), 1u);
  EXPECT_EQ(events("context_destroyed")[0]["context"].as_integer(), 1);
  EXPECT_TRUE(finish().is_complete());
}

TEST_F(Lifecycle, CudasStartIsTold) {
  ASSERT_TRUE(start().available);
  callbacks_->resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
  drain();
  EXPECT_EQ(events("cuda_initialised").size(), 1u);
  finish();
}

TEST_F(Lifecycle, ACallThatIsUnderWayFinalisesWhenItReturns) {
  for (int round = 0; round < 2; ++round) {
    standin_->reset(kCupti130);
    ASSERT_TRUE(start().available);
    HeldCall held(round == 0 ? callbacks_->device_synchronize : callbacks_->load_module);
    finish();
    EXPECT_EQ(events("detach_deferred").size(), size_t(round + 1));
    EXPECT_EQ(standin_->finalized(), 0u);
    held.release();
    EXPECT_EQ(standin_->finalized(), 1u);
    EXPECT_FALSE(standin_->is_subscribed());
  }
}

// Threads that make their first calls while others are parked, and are parked, do not stand for
// one that is inside a call.
TEST_F(Lifecycle, CuptiIsNotGivenUpUnderOneWhileTwoOthersCameToWait) {
  ASSERT_TRUE(start().available);
  standin_->launch({});
  HeldCall held(callbacks_->device_synchronize);
  tracer_->stop();
  LaunchGate& gate = CallWatch::instance().launch_gate();
  std::atomic<bool> is_given_up{false};
  std::vector<std::thread> program;
  for (int i = 0; i < 2; ++i) {
    program.emplace_back([&] {
      while (!gate.is_parking() && !is_given_up) std::this_thread::yield();
      if (gate.is_parking()) standin_->launch({});
    });
  }
  drain();
  is_given_up = true;
  for (std::thread& thread : program) thread.join();
  EXPECT_EQ(standin_->finalized(), 0u);
  EXPECT_EQ(events("detach_deferred").size(), 1u);
  held.release();
  EXPECT_EQ(standin_->finalized(), 1u);
}

TEST_F(Lifecycle, NobodyWaitsForEverUntilAnotherThreadHasGivenCuptiUp) {
  ASSERT_TRUE(start().available);
  HeldCall held(callbacks_->device_synchronize);
  finish();
  standin_->hold_finalize(true);
  std::thread program([&] { held.release(); });  // which gives CUPTI up
  ASSERT_TRUE(base::eventually([&] { return standin_->finalizing() == 1; }));
  EXPECT_EQ(start().reason, "detach_hangs");
  standin_->hold_finalize(false);
  program.join();
  EXPECT_EQ(standin_->finalized(), 1u);
  ASSERT_TRUE(start().available);
  standin_->launch({});
  EXPECT_EQ(finish().kernel_records, 1u);
}

// It would crash when it goes on.
TEST_F(Lifecycle, CuptiIsNotGivenUpUnderAThreadAtTheGate) {
  ASSERT_TRUE(start().available);
  standin_->launch({});
  LaunchGate& gate = CallWatch::instance().launch_gate();
  gate.close();
  std::thread program([&] { standin_->launch({}); });
  ASSERT_TRUE(base::eventually([&] { return gate.waiting() == 1; }));
  tracer_->stop();
  drain();
  EXPECT_EQ(standin_->finalized(), 0u);
  EXPECT_TRUE(tracer_->is_still_attached());
  EXPECT_EQ(events("stays_attached").size(), 1u);
  gate.open();
  program.join();
  ASSERT_TRUE(start().available);
  standin_->launch({});
  finish();
  EXPECT_EQ(standin_->finalized(), 1u);
}

TEST_F(Lifecycle, WhatIsUnwantedByTheTimeItIsSubscribedGoesNoFurther) {
  const std::atomic<bool> is_unwanted{true};
  EXPECT_EQ(start({.is_unwanted = &is_unwanted}).reason, "paused");
  EXPECT_EQ(standin_->enabled_kinds(), 0u);
  callbacks_->load_module(nullptr, nullptr);  // the first call to be seen gives CUPTI up
  EXPECT_FALSE(standin_->is_subscribed());
  ASSERT_TRUE(start().available) << "nothing of it is left";
  standin_->launch({});
  EXPECT_EQ(finish().kernel_records, 1u);
}

TEST_F(Lifecycle, ASessionThatStartsBeforeThatTakesCuptiBack) {
  ASSERT_TRUE(start().available);
  HeldCall held(callbacks_->device_synchronize);
  finish();
  ASSERT_TRUE(start().available);
  held.release();
  EXPECT_EQ(standin_->finalized(), 0u);
  standin_->launch({});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, 1u);
  EXPECT_EQ(ledger.kernel_records, 1u);
  EXPECT_EQ(standin_->finalized(), 1u);
}

TEST_F(Lifecycle, ACallOutlastsSessionsAndStillFinalisesItself) {
  ASSERT_TRUE(start().available);
  HeldCall held(callbacks_->device_synchronize);
  finish();
  for (int session = 0; session < 2; ++session) {
    EXPECT_TRUE(start().available);
    finish();
    EXPECT_EQ(standin_->finalized(), 0u);
  }
  held.release();
  standin_->launch({});
  EXPECT_EQ(standin_->finalized(), 1u);
}

// It began before the subscription.
TEST_F(Lifecycle, ACallThatNobodySawBeginIsNotFinalisedIn) {
  HeldCall held(callbacks_->device_synchronize);
  ASSERT_TRUE(start().available);
  finish();
  EXPECT_EQ(standin_->finalized(), 0u);
  held.release();
  standin_->launch({});
  EXPECT_EQ(standin_->finalized(), 1u);
}

// Nobody else could subscribe until the program's next call.
TEST_F(Lifecycle, AProgramThatCallsNothingIsLeftInACallOfOurOwn) {
  void* const cuda = dlopen(GPUFL_STANDIN_CUDA, RTLD_NOW);
  ASSERT_NE(cuda, nullptr) << dlerror();
  auto* const on_question =
      reinterpret_cast<void (*)(void (*)())>(dlsym(cuda, "cuda_standin_on_question"));
  static const standin::CuptiStandinCallbacks* cupti = nullptr;
  cupti = callbacks_;
  ASSERT_TRUE(start().available);
  on_question([] { cupti->load_module(nullptr, nullptr); });
  finish();
  on_question(nullptr);
  EXPECT_EQ(standin_->finalized(), 1u);
  EXPECT_FALSE(standin_->is_subscribed());
  EXPECT_TRUE(events("detach_deferred").empty());
}

TEST_F(Lifecycle, SessionsOneAfterAnotherUnderLoad) {
  std::atomic<bool> done{false};
  std::vector<std::thread> program;
  for (int i = 0; i < 3; ++i) {
    program.emplace_back([&] {
      while (!done) standin_->launch({});
    });
  }
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(start().available) << round;
    EXPECT_TRUE(drain_until([&] { return tracer_->status().launches > 0; }));
    const format::Ledger ledger = finish();
    EXPECT_GT(ledger.launches_seen.value_or(0), 0u);
    // A machine that is busy leaves the collector too little time: then CUPTI drops, or notes find
    // no room, and the ledger says so.
    EXPECT_LE(ledger.launches_missing.value_or(1),
              ledger.vendor_dropped.value_or(0) + ledger.notes_dropped.value_or(0))
        << round;
    EXPECT_TRUE(base::eventually(
        [&] { return standin_->finalized() == static_cast<uint32_t>(round + 1); }));
  }
  done = true;
  for (std::thread& one : program) one.join();
}

// What is launched on the way into a session, or out of it, has a record that nobody counted: no
// sign of kernels that launch kernels.
TEST_F(Lifecycle, LaunchesAcrossTheEndsOfASessionAreTheProgramsOwn) {
  for (const uint32_t version : {kCupti129, kCupti130}) {
    standin_->reset(version);
    std::atomic<bool> done{false};
    std::thread program([&] {
      while (!done) standin_->launch({});
    });
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(start().available);
      drain();
      EXPECT_TRUE(finish().uncounted.empty()) << version;
    }
    done = true;
    program.join();
  }
}

TEST_F(Lifecycle, KernelsThatKernelsLaunchedCannotBeCountedBefore130Either) {
  standin_->reset(kCupti129);
  ASSERT_TRUE(start().available);
  const uint32_t correlation = standin_->launch({});
  const uint64_t now_ns = static_cast<uint64_t>(base::monotonic_ns());
  standin_->kernel({}, correlation, now_ns, now_ns + 500);
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.kernels_unclaimed, 1u);
  EXPECT_TRUE(ledger.uncounted.contains("device_side_launches"));
}

TEST_F(Lifecycle, KernelsThatStillRunAtTheEndAreUnfinished) {
  ASSERT_TRUE(start().available);
  standin_->launch({});
  Launch running;
  running.runs_on = true;
  standin_->launch(running);
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, 2u);
  EXPECT_EQ(ledger.launches_unfinished, 1u);
  EXPECT_EQ(ledger.launches_missing, 0u);
  EXPECT_EQ(ledger.impossible_times, 0u);
}

TEST_F(Lifecycle, WithoutMemoryForRecordsTheStateHasAName) {
  ASSERT_TRUE(start().available);
  // Nobody drains. A kernel's record has at least so many bytes.
  constexpr uint32_t kLeastBytes = 150, kNodes = 1000;
  constexpr size_t kLaunches =
      ActivityBuffers::kMaxBuffers * ActivityBuffers::kBufferBytes / kLeastBytes / kNodes;
  Launch graph;
  graph.graph_kernels = kNodes;
  for (size_t i = 0; i < kLaunches; ++i) standin_->launch(graph);
  drain();
  ASSERT_EQ(events("out_of_buffers").size(), 1u);
  EXPECT_NE(events("out_of_buffers")[0]["hint"].as_string(), "");
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.graph_launches, kLaunches);
  EXPECT_GT(ledger.vendor_dropped.value_or(0), 0u);
  EXPECT_LT(ledger.kernel_records.value_or(0), kLaunches * kNodes);
  EXPECT_FALSE(ledger.is_complete());
}

TEST_F(Lifecycle, WhatRecordingCostIsAccounted) {
  ASSERT_TRUE(start().available);
  for (int i = 0; i < 1'000; ++i) standin_->launch({});
  const format::Ledger ledger = finish();
  EXPECT_GT(ledger.callback_ns.value_or(0), 0u);
  EXPECT_GT(ledger.activity_buffers.value_or(0), 0u);
  EXPECT_GT(ledger.activity_bytes.value_or(0), 1'000u * 200);
  EXPECT_EQ(ledger.notes_dropped, 0u);
}

TEST_F(Lifecycle, WhatStandsInTheWayHasAWordAndAHint) {
  const std::pair<CUptiResult, const char*> words[] = {
      {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "permission_denied"},
      {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, "vgpu"},
      {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "vgpu"},
      {CUPTI_ERROR_NOT_COMPATIBLE, "another_tool"},
      {CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED, "another_tool"},
      {CUPTI_ERROR_NOT_INITIALIZED, "cuda_not_available"},
  };
  for (const auto& [code, word] : words) {
    standin_->reset(kCupti130);
    standin_->fail("cuptiActivityEnable", code);
    const Availability why = start();
    EXPECT_FALSE(why.available);
    EXPECT_EQ(why.reason, word);
    EXPECT_NE(why.hint, "") << word;
    EXPECT_EQ(tracer_->status().state, word);
    tracer_.reset();
    standin_->launch({});  // whose return gives CUPTI up
    EXPECT_FALSE(standin_->is_subscribed());
  }
}

TEST_F(Lifecycle, TheClockOfGpuTimesIsTiedToTheSessions) {
  ASSERT_TRUE(start().available);
  drain();
  drain();
  ASSERT_EQ(sink_.lines[Kind::Clock].size(), 1u);
  const base::Json& clock = sink_.lines[Kind::Clock][0];
  const int64_t error_ns = clock["error"].as_integer();
  EXPECT_GT(error_ns, 0);
  const int64_t gpu_ns = std::stoll(clock["gpu"].as_string()) - session_start_ns_;
  EXPECT_LE(std::abs(gpu_ns - clock["time"].as_integer()), error_ns);
  finish();
}

TEST_F(Lifecycle, WhatIsOptionalAndRefusedIsLeftOut) {
  standin_->fail("cuptiActivityEnableLatencyTimestamps", CUPTI_ERROR_NOT_SUPPORTED);
  ASSERT_TRUE(start({.queue_times = true}).available);
  ASSERT_EQ(tracer_->limitations().size(), 1u);
  EXPECT_EQ(tracer_->limitations()[0].feature, "queue_times");
  EXPECT_EQ(tracer_->limitations()[0].why.reason, "unsupported_gpu");
  finish();
}

// In the child every word of the tracer's must come without CUPTI, and without a lock that a thread
// of the parent's may have held.
TEST_F(Lifecycle, AChildOfForkLeavesCuptiAlone) {
  ASSERT_TRUE(start().available);
  const uint32_t kinds = standin_->enabled_kinds();
  const uint32_t flushes = callbacks_->flushes();
  const pid_t child = fork();
  if (child == 0) {
    drain();
    tracer_->stop();
    const bool is_named = tracer_->status().state == "forked";
    tracer_.reset();
    const Availability again = start();
    const bool is_refused = !again.available && again.reason == "forked";
    const bool is_untouched = standin_->enabled_kinds() == kinds &&
                              callbacks_->flushes() == flushes && standin_->is_subscribed();
    _exit(is_named && is_refused && is_untouched ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  standin_->launch({});
  EXPECT_EQ(finish().kernel_records, 1u);
}

// The program's thread stops while the collector is between taking records in hand and decoding.
TEST_F(Lifecycle, StoppedBetweenTheStepsOfARound) {
  ASSERT_TRUE(start().available);
  standin_->launch({});
  tracer_->gather(int64_t{3600} * 1'000'000'000);  // so late that it asks CUPTI for everything
  standin_->launch({});
  tracer_->stop();
  tracer_->drain(base::monotonic_ns() - session_start_ns_, sink_);
  const format::Ledger ledger = finish();
  EXPECT_EQ(rows(format::Kind::Kernel).size(), 2u);
  EXPECT_EQ(ledger.launches_seen, 2u);
  EXPECT_TRUE(ledger.is_complete());
}

}  // namespace
}  // namespace gpufl::backend
