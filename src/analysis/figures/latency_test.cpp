// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/latency.hpp"

#include <gtest/gtest.h>

#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

TEST(Latency, FromTheCallToTheKernel) {
  TestSession session;
  session.kernel("a", 100, 10, {.api_start = 80, .api_duration = 5});    // 20, then 15 queued
  session.kernel("b", 200, 10, {.api_start = 190, .api_duration = 15});  // began during the call
  session.kernel("c", 300, 10, {.api_start = 305, .api_duration = 5});   // clocks disagree
  session.kernel("d", 400, 10);                                          // no call is known
  session.kernel("g", 900, 10, {.api_start = 500, .api_duration = 5}, {.graph = 1});
  session.kernel("q", 990, 10, {}, {.queued = 950});
  const SessionData data = session.finish();
  EXPECT_EQ(launched_too_late(data, {}), 1u);
  const LaunchLatency latency = launch_latency(data, {});
  ASSERT_TRUE(latency.launch_ns);
  EXPECT_EQ(latency.launch_ns->count, 2u);
  EXPECT_EQ(latency.launch_ns->total, 30);
  EXPECT_EQ(latency.launch_ns->min, 10);
  EXPECT_EQ(latency.queue_ns->max, 15);
  EXPECT_EQ(latency.queue_ns->min, 0);
  ASSERT_TRUE(latency.driver_ns);
  EXPECT_EQ(latency.driver_ns->total, 40);
}

TEST(Latency, CallsWhoseEndNobodySawHaveNoDuration) {
  TestSession session;
  session.kernel("a", 100, 10, {.api_start = 80, .api_duration = 5});
  session.kernel("b", 200, 10, {.api_start = 190, .api_duration = kNoDuration});
  session.kernel("c", 300, 10);
  const SessionData data = session.finish();
  const LaunchLatency latency = launch_latency(data, {});
  EXPECT_EQ(latency.kernels, 3u);
  EXPECT_EQ(latency.launch_ns->count, 2u);
  EXPECT_EQ(latency.queue_ns->count, 1u);
  const auto calls = api_calls(data, {});
  ASSERT_EQ(calls->size(), 1u);
  EXPECT_EQ(calls->front().duration_ns.count, 1u);
  EXPECT_EQ(calls->front().duration_ns.min, 5);
}

TEST(Latency, UnknownWhereClocksDisagree) {
  TestSession session;
  session.kernel("a", 100, 10, {.api_start = 105, .api_duration = 5});
  const LaunchLatency latency = launch_latency(session.finish(), {});
  ASSERT_FALSE(latency.launch_ns);
  EXPECT_EQ(latency.launch_ns.unknown().reason,
            "all kernels began before their calls: the clocks disagree");
}

TEST(Latency, UnknownSaysWhatWouldTell) {
  TestSession session;
  session.kernel("a", 0, 1);
  const LaunchLatency latency = launch_latency(session.finish(), {});
  EXPECT_FALSE(latency.launch_ns);
  EXPECT_EQ(latency.driver_ns.unknown().remedy,
            "record with enable_queue_times (GPUFL_ENABLE_QUEUE_TIMES=1)");
  EXPECT_EQ(launch_latency(TestSession().finish(), {}).launch_ns.unknown().reason, "no kernel ran");
}

TEST(ApiCalls, ByWhatTheyDo) {
  TestSession session;
  session.kernel("a", 100, 10, {.api_start = 80, .api_duration = 5, .correlation = 1});
  session.kernel("a", 200, 10, {.api_start = 180, .api_duration = 7, .correlation = 2});
  session.copy(1, 8, 300, 10, {.api_start = 280, .api_duration = 20, .correlation = 3});
  session.wait(3, 400, 90, {.api_start = 395, .api_duration = 100});
  session.api_call("cudaMalloc", 500, 30);
  session.api_call("cudaMalloc", 600, 10, 2, "cudaErrorMemoryAllocation");
  const auto calls = api_calls(session.finish(), {});
  ASSERT_TRUE(calls);
  ASSERT_EQ(calls->size(), 4u);
  EXPECT_EQ((*calls)[0].function, "wait");
  EXPECT_EQ((*calls)[0].duration_ns.total, 100);
  EXPECT_EQ((*calls)[1].function, "cudaMalloc");
  EXPECT_EQ((*calls)[1].failed, 1u);
  EXPECT_EQ((*calls)[1].duration_ns.total, 40);
  EXPECT_EQ((*calls)[3].function, "kernel launch");
  EXPECT_EQ((*calls)[3].duration_ns.count, 2u);
  EXPECT_FALSE(api_calls(TestSession().finish(), {}));
}

TEST(ApiCalls, CountsThoseWhoseBeginOrEndNobodySaw) {
  TestSession session;
  session.kernel("a", 100, 10, {.api_start = 80, .api_duration = 5, .correlation = 1});
  session.kernel("a", 200, 10, {.api_start = 180, .api_duration = kNoDuration, .correlation = 2});
  session.kernel("a", 300, 10, {.correlation = 3});
  session.api_call("cudaMalloc", 600, kNoDuration, 2, "cudaErrorMemoryAllocation");
  const auto calls = api_calls(session.finish(), {});
  ASSERT_TRUE(calls);
  ASSERT_EQ(calls->size(), 2u);
  EXPECT_EQ((*calls)[0].function, "kernel launch");
  EXPECT_EQ((*calls)[0].calls, 3u);
  EXPECT_EQ((*calls)[0].duration_ns.count, 1u);
  EXPECT_EQ((*calls)[0].duration_ns.total, 5);
  EXPECT_EQ((*calls)[1].function, "cudaMalloc");
  EXPECT_EQ((*calls)[1].calls, 1u);
  EXPECT_EQ((*calls)[1].duration_ns.count, 0u);
  EXPECT_EQ((*calls)[1].failed, 1u);
}

TEST(ApiCalls, ATracedSessionIsNotToBeTraced) {
  TestSession session;
  session.kernel("a", 200, 10, {.api_start = 180, .api_duration = kNoDuration});
  SessionData data = session.finish();
  data.summary.header.engine = "Trace";
  const auto calls = api_calls(data, {});
  ASSERT_FALSE(calls);
  EXPECT_EQ(calls.unknown().reason, "no begin or no end of the calls is known");
  EXPECT_EQ(calls.unknown().remedy, "");
  const LaunchLatency latency = launch_latency(data, {});
  EXPECT_TRUE(latency.launch_ns);
  ASSERT_FALSE(latency.queue_ns);
  EXPECT_EQ(latency.queue_ns.unknown().remedy, "");
}

TEST(ApiCalls, RowsOfCallsNameThoseBehindTheWork) {
  TestSession session;
  session.kernel("a", 100, 10, {.api_start = 80, .api_duration = 30, .correlation = 1});
  session.api_call("cudaLaunchKernel", 80, 30, 0, "", {.correlation = 1});
  session.api_call("cudaMalloc", 500, 10);
  const auto calls = api_calls(session.finish(), {});
  ASSERT_TRUE(calls);
  ASSERT_EQ(calls->size(), 2u);
  EXPECT_EQ((*calls)[0].function, "cudaLaunchKernel");
  EXPECT_EQ((*calls)[0].duration_ns.count, 1u);
  EXPECT_DOUBLE_EQ((*calls)[0].share, 0.75);
}

TEST(ApiCalls, OneLaunchOfAGraphIsOneCall) {
  TestSession session;
  for (int i = 0; i < 5; ++i) {
    session.kernel("n", 100 + i * 10, 5, {.api_start = 50, .api_duration = 9, .correlation = 4},
                   {.graph = 1});
  }
  const auto calls = *api_calls(session.finish(), {});
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].duration_ns.count, 1u);
}

TEST(Waits, ByCall) {
  TestSession session;
  session.wait(3, 0, 10);
  session.wait(3, 20, 30);
  session.wait(1, 60, 5);
  session.wait(77, 80, 1);
  const auto groups = *waits(session.finish(), {});
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].call, "StreamSynchronize");
  EXPECT_EQ(groups[0].blocked_ns.total, 40);
  EXPECT_EQ(groups[1].call, "EventSynchronize");
  EXPECT_EQ(groups[2].call, "wait");
}

TEST(Waits, ThatCouldNotBeHadAreUnknown) {
  TestSession session;
  session.data.summary.header.engine = "Trace";
  session.data.summary.ledger.emplace().kernel_records = 0;
  session.data.summary.capabilities.push_back(
      {"enable_synchronization", "true", "false", "cupti_error", "CUPTI said no", "try again"});
  const auto groups = waits(session.data, {});
  ASSERT_FALSE(groups);
  EXPECT_NE(groups.unknown().reason.find("CUPTI said no"), std::string::npos);
  EXPECT_EQ(groups.unknown().remedy, "try again");
}

}  // namespace
}  // namespace gpufl::analysis
