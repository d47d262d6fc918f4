// SPDX-License-Identifier: Apache-2.0
// PC sampling of the real tracer over the stand-in libcupti.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <cupti.h>
#include <gtest/gtest.h>

#include "backend/nvidia/code/code_fixture.hpp"
#include "tests/standin/cupti/standin_code.hpp"
#include "tests/trace/sampling_fixture.hpp"

namespace gpufl::backend {
namespace {

using format::Kind;
using standin::SampledPc;
namespace sample_column = format::pc_sample_column;
namespace coverage_column = format::coverage_column;

// The one that the recorder leaves to itself where a call does not come back.
bool is_sampling_thread_there() {
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    if (name == "gpufl-sampling") return true;
  }
  return false;
}

class PcSampling : public SamplingFixture {
 protected:
  // One window, and others only while a deep scope is open.
  void begin_seldom() {
    PcSamplingOptions seldom{.window_ns = 100'000, .pause_ns = 3'600'000'000'000};
    seldom.deep = &deep_;
    begin(seldom);
  }
  bool drain_until_windows(uint64_t count) {
    return drain_until([&] { return tracer_->status().sampling->windows >= count; });
  }

  backend::DeepDemand deep_;
};

TEST_F(PcSampling, SamplesCarryFunctionModulePcAndTheDevicesOwnStallReason) {
  const SampledPc samples[] = {
      {"gemm", 0xfeed, 0x40, "smsp__pcsamp_warps_issue_stalled_long_scoreboard", 7},
      {"gemm", 0xfeed, 0x50, "smsp__pcsamp_sample_count", 9}};
  sampling_->set_samples(samples, 2);
  sampling_->set_unlocated(3);
  begin();
  ASSERT_TRUE(drain_until([&] { return !rows(Kind::PcSample).empty(); }));
  EXPECT_EQ(sampling_->period(), 12u);
  const auto row = rows(Kind::PcSample).front();
  EXPECT_EQ(sink_.value(format::Dict::Name, row[sample_column::kFunction]), "gemm");
  EXPECT_EQ(row[sample_column::kModule], 0xfeed);
  EXPECT_EQ(row[sample_column::kPc], 0x40);
  EXPECT_EQ(sink_.value(format::Dict::Metric, row[sample_column::kStall]),
            "smsp__pcsamp_warps_issue_stalled_long_scoreboard");
  EXPECT_EQ(row[sample_column::kSamples], 7);

  const format::Ledger ledger = finish();
  const uint64_t windows = *ledger.sampling_windows;
  EXPECT_EQ(rows(Kind::PcSample).size(), windows);  // the count of samples is no stall reason
  EXPECT_EQ(ledger.pc_samples, windows * 19);
  EXPECT_EQ(ledger.pc_samples_unlocated, windows * 3);
  ASSERT_EQ(rows(Kind::Coverage).size(), windows);
  const auto window = rows(Kind::Coverage).front();
  EXPECT_EQ(sink_.value(format::Dict::Name, window[coverage_column::kEngine]), "PcSampling");
  EXPECT_EQ(window[coverage_column::kShape], static_cast<int64_t>(format::CoverageShape::Window));
  EXPECT_EQ(window[coverage_column::kSamples], 19);
  EXPECT_GT(window[coverage_column::kDuration], 0);
  EXPECT_EQ(sampling_->enabled(), 0u);  // nothing is left behind
  EXPECT_FALSE(sampling_->is_initialized()) << "launches of several threads stay slow";
}

TEST_F(PcSampling, AWindowIsSkippedWhileALaunchIsUnderWayAndNoCallIsMadeBehindIt) {
  begin_seldom();
  ASSERT_TRUE(drain_until_windows(1));
  HeldCall held(sampling_->launch);
  deep_.scopes = 1;
  EXPECT_TRUE(drain_until([&] { return tracer_->status().sampling->windows_skipped >= 2; }));
  held.release();
  const uint64_t windows = tracer_->status().sampling->windows;
  EXPECT_TRUE(drain_until_windows(windows + 1));
  EXPECT_EQ(sampling_->disturbed(), 0u);
  EXPECT_GE(*finish().sampling_windows_skipped, 2u);
}

TEST_F(PcSampling, CallsThatDoNotLaunchAreWaitedForAsWell) {
  begin_seldom();
  ASSERT_TRUE(drain_until_windows(1));
  const HeldCall held(callbacks_->load_module);
  deep_.scopes = 1;
  EXPECT_TRUE(drain_until([&] { return tracer_->status().sampling->windows_skipped >= 1; }));
}

TEST_F(PcSampling, ACallThatDoesNotComeBackEndsSamplingAndHoldsNobody) {
  begin();
  ASSERT_TRUE(drain_until_windows(1));
  sampling_->hang("cuptiPCSamplingStart");
  ASSERT_TRUE(drain_until([&] { return tracer_->status().sampling->state == "sampling_hangs"; }));
  standin_->launch({});  // the gate is open, or this would not return
  drain();
  EXPECT_EQ(lacking(), "sampling_hangs");
  EXPECT_EQ(events("sampling_ended").size(), 1u);
  sampling_->hang(nullptr);
  // Its thread shuts nothing any more: the gate may be another session's by now.
  ASSERT_TRUE(base::eventually([] { return !is_sampling_thread_there(); }));
  EXPECT_FALSE(CallWatch::instance().launch_gate().is_shut());
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.kernel_records, 1u);
  EXPECT_EQ(ledger.launches_missing, 0u);
  EXPECT_EQ(standin_->finalized(), 0u);  // not under a call that hangs
  EXPECT_EQ(events("stays_attached").size(), 1u);
  // The next recording samples again once the call has come back.
  ASSERT_TRUE(base::eventually([&] {
    begin();
    const bool samples = tracer_->status().sampling.has_value();
    finish();
    return samples;
  }));
}

// CUPTI goes on writing to what it was configured with.
TEST_F(PcSampling, WhatIsEnabledTooLateKeepsItsBuffers) {
  sampling_->hang("cuptiPCSamplingEnable");
  begin();
  ASSERT_TRUE(drain_until([&] { return tracer_->status().sampling->state == "sampling_hangs"; }));
  sampling_->hang(nullptr);
  ASSERT_TRUE(base::eventually([] { return !is_sampling_thread_there(); }));
  EXPECT_EQ(sampling_->enabled(), 1u);
  sampling_->write_late();
  finish();
  EXPECT_EQ(standin_->finalized(), 0u);
}

TEST_F(PcSampling, AContextThatGoesWhileItsWindowIsToCloseIsLeftAlone) {
  begin({.window_ns = 100'000'000, .pause_ns = 3'600'000'000'000});
  ASSERT_TRUE(base::eventually([&] { return sampling_->windows() == 1; }));
  HeldCall destroying(callbacks_->load_module);
  LaunchGate& gate = CallWatch::instance().launch_gate();
  ASSERT_TRUE(drain_until([&] { return gate.is_shut(); }));  // it is waited for
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  sampling_->forget_contexts();
  destroying.release();
  EXPECT_TRUE(drain_until([&] { return tracer_->status().sampling->windows_skipped == 1; }));
  EXPECT_EQ(sampling_->misplaced(), 0u);
  EXPECT_EQ(lacking(), "");
}

TEST_F(PcSampling, AContextThatGoesWhileSamplingIsToEndIsLeftAlone) {
  begin_seldom();
  ASSERT_TRUE(drain_until_windows(1));
  HeldCall destroying(callbacks_->load_module);
  std::thread ending([&] { tracer_->stop(); });
  LaunchGate& gate = CallWatch::instance().launch_gate();
  ASSERT_TRUE(base::eventually([&] { return gate.is_shut(); }));
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  sampling_->forget_contexts();
  destroying.release();
  ending.join();
  EXPECT_EQ(sampling_->misplaced(), 0u);
  finish();
  EXPECT_EQ(lacking(), "");
  EXPECT_EQ(standin_->finalized(), 1u);
}

// The gate is shut for two: a window that closes does not let the new context's launches go.
TEST_F(PcSampling, ANewContextIsAttachedBeforeItsFirstLaunchThoughAWindowCloses) {
  begin({.window_ns = 50'000'000, .pause_ns = 3'600'000'000'000});
  ASSERT_TRUE(base::eventually([&] { return sampling_->windows() == 1; }));
  callbacks_->resource_of(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, 2);
  standin_->launch({});
  EXPECT_EQ(sampling_->enabled(), 2u);
}

TEST_F(PcSampling, AContextThatCannotBeAttachedForLongIsGivenUp) {
  begin_seldom();
  ASSERT_TRUE(drain_until_windows(1));
  HeldCall held(sampling_->launch);
  callbacks_->resource_of(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, 2);
  ASSERT_TRUE(drain_until([&] { return lacking() == "launch_hangs"; }));
  EXPECT_EQ(sink_.lines[Kind::Capability].front()["got"].as_string(), "in part");
  EXPECT_TRUE(base::eventually([] { return !CallWatch::instance().launch_gate().is_shut(); }));
  held.release();
  EXPECT_EQ(sampling_->enabled(), 1u);
  EXPECT_EQ(sampling_->disturbed(), 0u);
}

TEST_F(PcSampling, EveryContextHasItsWindow) {
  const SampledPc sample{.samples = 3};
  sampling_->set_samples(&sample, 1);
  begin_seldom();
  callbacks_->resource_of(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, 2);
  ASSERT_TRUE(base::eventually([&] { return sampling_->enabled() == 2; }));
  deep_.scopes = 1;
  ASSERT_TRUE(drain_until([&] {
    return tracer_->status().sampling->windows >= 2 && rows(Kind::PcSample).size() >= 3;
  }));
  std::set<int64_t> contexts;
  for (const auto& row : rows(Kind::PcSample)) contexts.insert(row[sample_column::kContext]);
  EXPECT_EQ(contexts, (std::set<int64_t>{1, 2}));
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.pc_samples, 3 * rows(Kind::PcSample).size());
  EXPECT_EQ(rows(Kind::Coverage).size(), rows(Kind::PcSample).size());
  EXPECT_LT(*ledger.sampling_windows, rows(Kind::Coverage).size()) << "one window, on both";
  EXPECT_EQ(sampling_->enabled(), 0u);
}

TEST_F(PcSampling, WhatDoesNotFitInOneReadIsReadInSeveral) {
  std::vector<SampledPc> samples;
  for (uint64_t pc = 0; pc < 25; ++pc) samples.push_back({.pc = 16 * pc, .samples = 2});
  sampling_->set_samples(samples.data(), static_cast<uint32_t>(samples.size()));
  sampling_->set_unlocated(5);
  sampling_->limit_reads(10);
  begin_seldom();
  ASSERT_TRUE(drain_until_windows(1));
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.sampling_windows, 1u);
  EXPECT_EQ(sampling_->reads(), 3u);
  ASSERT_EQ(rows(Kind::PcSample).size(), 25u);
  for (size_t i = 0; i < 25; ++i) {
    EXPECT_EQ(rows(Kind::PcSample)[i][sample_column::kPc], static_cast<int64_t>(16 * i));
  }
  EXPECT_EQ(ledger.pc_samples, 55u);
  EXPECT_EQ(ledger.pc_samples_unlocated, 5u);
}

TEST_F(PcSampling, RowsThatComeLateAreOfTheNextWindow) {
  const SampledPc sample{.samples = 3};
  sampling_->set_samples(&sample, 1);
  sampling_->delay_rows(true);
  begin_seldom();
  ASSERT_TRUE(drain_until_windows(1));
  deep_.scopes = 1;
  ASSERT_TRUE(drain_until_windows(2));
  const format::Ledger ledger = finish();
  EXPECT_EQ(rows(Kind::PcSample).size(), *ledger.sampling_windows - 1);
  EXPECT_EQ(ledger.pc_samples, 3 * *ledger.sampling_windows);
}

TEST_F(PcSampling, SamplingEndsAndRecordsGoOn) {
  begin();
  ASSERT_TRUE(drain_until_windows(1));
  EXPECT_TRUE(tracer_->end_sampling());
  EXPECT_FALSE(tracer_->end_sampling()) << "none are being taken";
  EXPECT_EQ(sampling_->enabled(), 0u);
  EXPECT_FALSE(sampling_->is_initialized()) << "launches have their speed back";
  standin_->launch({});
  drain();
  EXPECT_EQ(tracer_->status().state, "recording");
  EXPECT_EQ(finish().kernel_records, 1u);
}

TEST_F(PcSampling, AFullBufferIsCountedAndBringsNothing) {
  const SampledPc sample;
  sampling_->set_samples(&sample, 1);
  sampling_->fill_buffer(true);
  begin();
  ASSERT_TRUE(drain_until_windows(2));
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.sampling_buffers_full, ledger.sampling_windows);
  EXPECT_EQ(ledger.pc_samples, 0u);
  EXPECT_TRUE(rows(Kind::PcSample).empty());
  EXPECT_EQ(ledger.completeness(), format::Completeness::Incomplete);
  EXPECT_EQ(ledger.completeness_of_trace(), format::Completeness::Complete);
}

TEST_F(PcSampling, AFullBufferIsOfOneWindow) {
  const SampledPc sample;
  sampling_->set_samples(&sample, 1);
  sampling_->fill_buffer(true);
  begin();
  ASSERT_TRUE(drain_until_windows(1));
  sampling_->fill_buffer(false);
  EXPECT_TRUE(drain_until([&] { return !rows(Kind::PcSample).empty(); }));
}

TEST_F(PcSampling, ALaunchThatDoesNotReturnLeavesSamplingAndCuptiOn) {
  begin();
  ASSERT_TRUE(drain_until_windows(1));
  HeldCall held(sampling_->launch);
  tracer_->stop();
  drain();
  EXPECT_EQ(lacking(), "launch_hangs");
  finish();
  EXPECT_EQ(standin_->finalized(), 0u);
  EXPECT_EQ(events("stays_attached").size(), 1u);
  held.release();
}

TEST_F(PcSampling, WithoutPermissionTracingGoesOnAndTheSessionSaysWhatToDo) {
  standin_->fail("cuptiPCSamplingEnable", CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  begin();
  standin_->launch({});
  ASSERT_TRUE(drain_until([&] { return lacking() == "permission_denied"; }));
  standin_->launch({});
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.kernel_records, 2u);
  EXPECT_EQ(ledger.sampling_windows, 0u);
}

TEST_F(PcSampling, CountersThatAnotherToolHoldsAreNamed) {
  standin_->fail("cuptiPCSamplingEnable", CUPTI_ERROR_HARDWARE_BUSY);
  begin();
  ASSERT_TRUE(drain_until([&] { return lacking() == "counters_held"; }));
}

TEST_F(PcSampling, NoCallIsEverMadeWhileSixteenThreadsLaunch) {
  begin();
  std::atomic<bool> ends{false};
  std::vector<std::thread> program;
  for (int i = 0; i < 16; ++i) {
    program.emplace_back([&] {
      while (!ends) sampling_->launch(nullptr, nullptr);
    });
  }
  EXPECT_TRUE(drain_until_windows(50));
  EXPECT_TRUE(tracer_->status().sampling->windows >= 50);
  tracer_->stop();
  ends = true;
  for (std::thread& thread : program) thread.join();
  const format::Ledger ledger = finish();
  EXPECT_EQ(sampling_->disturbed(), 0u);
  EXPECT_GT(*ledger.launches_held, 0u);
  EXPECT_GE(*ledger.launches_held_ns, *ledger.longest_hold_ns);
}

// CUPTI crashes a thread that it finds at the entry of a call when it is given up.
TEST_F(PcSampling, NobodyEntersACallWhenCuptiIsGivenUp) {
  standin_->delay_entry(1'000);
  std::atomic<bool> ends{false};
  std::atomic<int> launches{0};
  std::vector<std::thread> program;
  for (int i = 0; i < 4; ++i) {
    program.emplace_back([&] {
      while (!ends) {
        sampling_->launch(nullptr, nullptr);
        ++launches;
      }
    });
  }
  for (int cycle = 0; cycle < 10; ++cycle) {
    EXPECT_TRUE(start({}).available);
    launches = 0;
    EXPECT_TRUE(drain_until([&] { return launches > 100; }));
    finish();
    EXPECT_EQ(events("detach_deferred").size(), 0u);
    sink_ = {};
  }
  ends = true;
  for (std::thread& thread : program) thread.join();
  EXPECT_EQ(standin_->finalized(), 10u);
  EXPECT_EQ(standin_->surprised(), 0u);
}

TEST_F(PcSampling, ADeepScopeTakesOneWindowAfterAnother) {
  begin_seldom();
  ASSERT_TRUE(drain_until_windows(1));
  deep_.scopes = 1;
  ASSERT_TRUE(drain_until_windows(3));
  deep_.scopes = 0;
  EXPECT_EQ(rows(Kind::Coverage).back()[coverage_column::kWhy],
            static_cast<int64_t>(format::CoverageReason::DeepScope));
}

TEST_F(PcSampling, AContextThatGoesIsForgotten) {
  begin_seldom();
  ASSERT_TRUE(drain_until_windows(1));
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  sampling_->forget_contexts();  // whatever is asked of it from now on fails
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  deep_.scopes = 1;
  EXPECT_TRUE(drain_until_windows(2));
  EXPECT_EQ(lacking(), "");
}

// Records of graphs that still run must not be forced out of CUPTI: quiet_gpu.hpp.
TEST_F(PcSampling, ARecordingThatSawGraphsForcesNothingOut) {
  ASSERT_TRUE(start({}).available);
  standin_->launch({.graph_kernels = 2});
  standin_->launch({.runs_on = true});
  drain();
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.kernel_records, 2u);
  EXPECT_EQ(standin_->finalized(), 1u);
}

TEST_F(PcSampling, AGraphThatWasOnlyCapturedIsOne) {
  ASSERT_TRUE(start().available);
  standin_->capture(true);
  standin_->capture(false);
  standin_->launch({.runs_on = true});
  drain();
  EXPECT_EQ(finish().kernel_records, 0u);
}

TEST_F(PcSampling, AGraphOfAnEarlierPhaseMayStillRun) {
  ASSERT_TRUE(start().available);
  standin_->launch({.graph_kernels = 2});
  drain();
  finish();
  ASSERT_TRUE(resume().available);
  standin_->launch({.runs_on = true});
  drain();
  EXPECT_EQ(finish().kernel_records, 0u);
}

TEST_F(PcSampling, KeepsTheCodeThatWasSampledOrSaysThatItIsNowhere) {
  const auto& code = *reinterpret_cast<standin::CuptiStandinCodeFunction*>(
      dlsym(dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW), "cupti_standin_code"))();
  const std::string cubin = code_fixture::cubin();
  SampledPc samples[2];
  samples[0].function = code_fixture::kDoubleAll;
  samples[0].module = code.checksum(cubin.data(), cubin.size());
  samples[1].function = "_Z4gonev";
  sampling_->set_samples(samples, 2);
  ASSERT_TRUE(start({.code = true, .pc_sampling = kQuick}).available);
  code.load(cubin.data(), cubin.size());
  callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  ASSERT_TRUE(drain_until([&] { return !rows(Kind::PcSample).empty(); }));
  finish();
  EXPECT_EQ(sink_.code,
            (std::map<uint64_t, std::string>{{samples[0].module, cubin}, {samples[1].module, ""}}));
}

}  // namespace
}  // namespace gpufl::backend
