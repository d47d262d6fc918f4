// SPDX-License-Identifier: Apache-2.0
// What callbacks tell of calls, where CUPTI's records of them are not asked for.
#include "backend/tracing/call_notes.hpp"

#include <unistd.h>

#include <algorithm>

#include "backend/nvidia/cupti/cupti_api.hpp"
#include "tests/trace/tracer_fixture.hpp"

namespace gpufl::backend {
namespace {

using format::Kind;
namespace kernel = format::kernel_column;

class CallNotes : public TracerFixture {
 protected:
  template <typename Function>
  Function* standin_function(const char* name) {
    return reinterpret_cast<Function*>(dlsym(dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW), name));
  }
};

TEST(CallNoteTest, DurationsOfAnyLength) {
  CallNote note;
  for (const int64_t ns : {int64_t{0}, int64_t{1'234}, int64_t{UINT32_MAX}}) {
    note.set_duration(ns);
    EXPECT_EQ(note.duration_ns(), ns);
  }
  constexpr int64_t kSecondNs = 1'000'000'000;
  for (const int64_t ns : {5 * kSecondNs, 3'600 * kSecondNs, 30 * 86'400 * kSecondNs}) {
    note.set_duration(ns);
    EXPECT_NEAR(static_cast<double>(note.duration_ns()), static_cast<double>(ns),
                CallNote::kLongUnit);
  }
}

TEST(CallNoteTest, TicksArePlacedOnTheMonotonicClock) {
  base::TickClock clock(true);
  clock.mark({0, 1'000});
  clock.mark({20'000'000'000, 10'000'001'000});  // two ticks a nanosecond
  CallNote launch;
  launch.kind = CallNoteKind::Launch;
  launch.ticks = 4'000;
  launch.set_duration(600);
  launch.place(clock);
  EXPECT_EQ(launch.time_ns, 3'000);
  EXPECT_EQ(launch.duration_ns(), 300);

  CallNote failed;
  failed.ticks = 0;
  failed.set_duration(10'000'000'000);  // more than 32 bits hold, in ticks and in nanoseconds
  failed.place(clock);
  EXPECT_NEAR(static_cast<double>(failed.duration_ns()), 5e9, CallNote::kLongUnit);

  CallNote end;
  end.kind = CallNoteKind::CallEnd;
  end.ticks = 4'000;
  end.event = 77;
  end.place(clock);
  EXPECT_EQ(end.time_ns, 3'000);
  EXPECT_EQ(end.event, 77u);

  CallNote external;
  external.kind = CallNoteKind::External;
  external.external = 4'000;
  external.place(clock);
  EXPECT_EQ(external.external, 4'000u);
}

TEST_F(CallNotes, ALaunchHasItsTimesWithoutARecord) {
  ASSERT_TRUE(start().available);
  standin_->hold_calls(true);
  for (int i = 0; i < 100; ++i) standin_->launch({});
  ASSERT_TRUE(drain_until([&] { return rows(Kind::Kernel).size() == 100; }));
  int64_t last_start = 0;
  for (const auto& row : rows(Kind::Kernel)) {
    EXPECT_GE(row[kernel::kApiStart], last_start);
    EXPECT_GT(row[kernel::kApiDuration], 0);
    EXPECT_EQ(row[kernel::kThread], gettid());
    last_start = row[kernel::kApiStart] + row[kernel::kApiDuration];
  }
  EXPECT_TRUE(finish().is_complete());
  EXPECT_TRUE(rows(Kind::Api).empty());
}

TEST_F(CallNotes, WaitsTellWhatTheyWaitForAndForHowLong) {
  constexpr int64_t kInsideUs = 5'000;
  CountingStacks stacks;
  ASSERT_TRUE(start({.stacks = &stacks}).available);
  standin_->launch({});  // tells which device context 1 is on
  callbacks_->device_synchronize([](void*) { usleep(kInsideUs); }, nullptr);
  callbacks_->stream_synchronize(21);
  callbacks_->stream_wait_event(22, 0x1230);
  callbacks_->stream_wait_event(22, 0x4560);
  finish();
  namespace wait = format::sync_column;
  auto& waits = rows(Kind::Sync);
  ASSERT_EQ(waits.size(), 4u);
  const int64_t types[] = {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
                           CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
                           CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT,
                           CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT};
  const int64_t streams[] = {-1, 21, 22, 22};
  for (size_t i = 0; i < waits.size(); ++i) {
    EXPECT_EQ(waits[i][wait::kWaitKind], types[i]) << i;
    EXPECT_EQ(waits[i][wait::kStream], streams[i]) << i;
    EXPECT_EQ(waits[i][wait::kDevice], 0) << i;
    EXPECT_EQ(waits[i][wait::kThread], gettid()) << i;
    EXPECT_EQ(waits[i][wait::kDuration], waits[i][wait::kApiDuration]) << i;
    EXPECT_EQ(waits[i][wait::kStart], waits[i][wait::kApiStart]) << i;
  }
  EXPECT_GE(waits[0][wait::kDuration], kInsideUs * 1'000);
  EXPECT_EQ(waits[0][wait::kStack], 2);
  EXPECT_EQ(waits[1][wait::kStack], 3);
  EXPECT_EQ(waits[1][wait::kEventId], -1);
  EXPECT_NE(waits[2][wait::kEventId], waits[3][wait::kEventId]);
}

TEST_F(CallNotes, ALaunchIntoAGraphIsACallByItself) {
  ASSERT_TRUE(start().available);
  callbacks_->capture(true);
  standin::Launch captured;
  captured.captured = true;
  standin_->launch(captured);
  callbacks_->capture(false);
  EXPECT_TRUE(finish().is_complete());
  namespace api = format::api_column;
  ASSERT_EQ(rows(Kind::Api).size(), 1u);
  EXPECT_EQ(sink_.value(format::Dict::Name, rows(Kind::Api)[0][api::kName]), "cudaLaunchKernel");
  EXPECT_EQ(rows(Kind::Api)[0][api::kResult], 0);
  EXPECT_GT(rows(Kind::Api)[0][api::kDuration], 0);
}

TEST_F(CallNotes, AFailureHasItsStack) {
  CountingStacks stacks;
  ASSERT_TRUE(start({.stacks = &stacks}).available);
  standin::Launch refused;
  refused.result = 1;
  standin_->launch(refused);
  standin_->allocate(2);
  finish();
  namespace api = format::api_column;
  ASSERT_EQ(rows(Kind::Api).size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(rows(Kind::Api)[i][api::kResult], int64_t(i) + 1);
    EXPECT_EQ(rows(Kind::Api)[i][api::kStack], int64_t(i) + 1);
    EXPECT_GT(rows(Kind::Api)[i][api::kDuration], 0);
  }
}

TEST_F(CallNotes, IdsThatTheProgramPushesAreItsKernelsAndStayPushed) {
  auto* const push = standin_function<decltype(cuptiActivityPushExternalCorrelationId)>(
      "cuptiActivityPushExternalCorrelationId");
  auto* const pop = standin_function<decltype(cuptiActivityPopExternalCorrelationId)>(
      "cuptiActivityPopExternalCorrelationId");
  ASSERT_TRUE(start().available);
  // A thread's first 64 launches and later one in 64 are asked; from the first id on, all are.
  for (int i = 0; i < 128; ++i) standin_->launch({});
  push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, UINT64_MAX - 1);
  standin_->launch({});
  standin_->launch({});
  uint64_t popped = 0;
  EXPECT_EQ(pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &popped), CUPTI_SUCCESS);
  EXPECT_EQ(popped, UINT64_MAX - 1);
  standin_->launch({});
  finish();
  std::vector<int64_t> expected(128, 0);
  expected.insert(expected.end(), {-2, -2, 0});
  EXPECT_EQ(sink_.column(Kind::Kernel, kernel::kExternal), expected);
}

// As after a longjmp out of a callback: those are forgotten.
TEST_F(CallNotes, OfMoreCallsInsideEachOtherThanAnyProgramHasTheInnermostCount) {
  struct Nest {
    const standin::CuptiStandin* standin;
    const standin::CuptiStandinCallbacks* callbacks;
    int depth;
    static void descend(void* data) {
      auto& nest = *static_cast<Nest*>(data);
      if (--nest.depth != 0) {
        nest.callbacks->device_synchronize(descend, data);
      } else {
        nest.standin->launch({});
      }
    }
  } nest{standin_, callbacks_, 6};
  ASSERT_TRUE(start().available);
  callbacks_->device_synchronize(Nest::descend, &nest);
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, 1u);
  EXPECT_EQ(ledger.kernel_records, 1u);
  EXPECT_EQ(ledger.kernels_unclaimed, 0u);
  EXPECT_EQ(rows(Kind::Sync).size(), 2u);
}

// The driver's call inside is passed over; what the runtime's returns counts.
TEST_F(CallNotes, ALaunchOfTheRuntimesCountsOnceAsItEnds) {
  ASSERT_TRUE(start().available);
  callbacks_->launch_around(nullptr, nullptr, 0, 0);
  callbacks_->launch_around(nullptr, nullptr, 1, 1);
  callbacks_->launch_around(nullptr, nullptr, 0, 1);
  const auto forever = [](void* callbacks) {
    static_cast<const standin::CuptiStandinCallbacks*>(callbacks)->begin_forever();
  };
  callbacks_->launch_around(forever, const_cast<standin::CuptiStandinCallbacks*>(callbacks_), 0, 0);
  EXPECT_EQ(finish().launches_seen, 2u);
}

TEST_F(CallNotes, ALaunchThatASessionEndsInHidesNoneOfTheNext) {
  ASSERT_TRUE(start().available);
  standin_->next_correlation(500);
  const auto stop = [](void* tracer) { static_cast<Tracer*>(tracer)->stop(); };
  callbacks_->launch_around(stop, tracer_.get(), 0, 0);
  drain();
  tracer_.reset();
  ASSERT_TRUE(start().available);
  standin_->next_correlation(500);
  standin::Launch launch;
  launch.by_driver = true;
  standin_->launch(launch);
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, 1u);
  EXPECT_EQ(ledger.kernels_unclaimed, 0u);
}

TEST_F(CallNotes, AnEndOfACaptureThatIsNoneEndsNobodysCapture) {
  ASSERT_TRUE(start().available);
  callbacks_->capture(true);
  callbacks_->fail_to_end_capture(CUDA_ERROR_ILLEGAL_STATE);
  callbacks_->fail_to_end_capture(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  standin::Launch captured;
  captured.captured = true;
  standin_->launch(captured);
  EXPECT_EQ(finish().launches_seen, 0u);
}

}  // namespace
}  // namespace gpufl::backend
