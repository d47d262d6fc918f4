// SPDX-License-Identifier: Apache-2.0
#include "capture/gpu_recording.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/clock.hpp"
#include "base/eventually.hpp"
#include "capture/fake_log_writer.hpp"

// Tracers that come and go under a collector that runs: with a backend made for it.
namespace gpufl::capture {
namespace {

struct Vendor {
  std::atomic<int> asked{0};  // trace_available()
  std::atomic<int> tracers{0};
  std::atomic<bool> refuses{false};
  std::atomic<bool> counts_launches{true};
  std::atomic<bool> hangs_in_start{false}, hangs_in_stop{false}, hangs_in_round{false};
  std::atomic<bool> leaves_unread{false};
  // The kernel whose record comes after the stop ends so much after that; 0: there is none.
  std::atomic<int64_t> runs_on_ns{0};
};

void wait_while(const std::atomic<bool>& hangs) {
  while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// One kernel for every round it is gathered in, and one more after its stop.
class FakeTracer final : public backend::Tracer {
 public:
  explicit FakeTracer(Vendor& vendor) : vendor_(vendor) { ++vendor_.tracers; }
  ~FakeTracer() override {
    EXPECT_TRUE(kernels_ == drained_ || vendor_.leaves_unread)
        << "something was not read before it went";
    --vendor_.tracers;
  }
  backend::Availability start(int64_t session_start_ns) override {
    wait_while(vendor_.hangs_in_start);
    session_start_ns_ = session_start_ns;
    if (vendor_.refuses) return {false, "taken", "another tool has it", "stop the other tool"};
    return {true, "", "", ""};
  }
  std::vector<backend::Limitation> limitations() const override {
    if (vendor_.counts_launches) return {};
    return {{"launch_count", {false, "taken", "no callbacks", ""}}};
  }
  void stop() override {
    wait_while(vendor_.hangs_in_stop);
    if (stopped_.exchange(true)) return;
    ++kernels_;
    stopped_ns_ = base::monotonic_ns();
  }
  void gather(int64_t) override {
    wait_while(vendor_.hangs_in_round);
    if (!stopped_) ++kernels_;
    gathered_ = kernels_;
  }
  void drain(int64_t now_ns, backend::RowSink& sink) override {
    format::Batch rows(format::Kind::Sync);
    for (; drained_ < gathered_; ++drained_) {
      namespace column = format::sync_column;
      rows.mutable_column(column::kStart).push_back(now_ns);
      rows.mutable_column(column::kDuration).push_back(0);
      rows.set_rows(rows.rows() + 1);
    }
    if (!rows.empty()) sink.submit(rows);
    if (stopped_ && vendor_.runs_on_ns != 0) submit_kernel(sink);
  }
  void account(format::Ledger& ledger) const override {
    ledger.kernel_records = drained_;
    if (vendor_.counts_launches) ledger.launches_seen = kernels_;
  }
  backend::TraceStatus status() const override {
    backend::TraceStatus status;
    status.state = stopped_ ? "stopped" : "waiting_for_cuda";
    return status;
  }

 private:
  void submit_kernel(backend::RowSink& sink) {
    namespace column = format::kernel_column;
    format::Batch rows(format::Kind::Kernel);
    rows.mutable_column(column::kStart).push_back(stopped_ns_ - session_start_ns_);
    rows.mutable_column(column::kDuration).push_back(vendor_.runs_on_ns);
    rows.set_rows(1);
    sink.submit(rows);
  }

  Vendor& vendor_;
  int64_t session_start_ns_ = 0;
  std::atomic<int64_t> stopped_ns_{0};
  std::atomic<bool> stopped_{false};
  std::atomic<uint64_t> kernels_{0}, drained_{0};
  uint64_t gathered_ = 0;
};

class FakeBackend final : public backend::Backend {
 public:
  FakeBackend(std::string name, Vendor& vendor) : name_(std::move(name)), vendor_(vendor) {}
  std::string_view name() const override { return name_; }
  backend::Availability health_available() override { return {}; }
  backend::Availability trace_available() override {
    ++vendor_.asked;
    return {true, "", "", ""};
  }
  base::Result<std::unique_ptr<backend::HealthSource>> make_health_source() override {
    return base::Status(base::Code::Unsupported, "none");
  }
  base::Result<std::unique_ptr<backend::Tracer>> make_tracer(
      const backend::TraceOptions&) override {
    return std::unique_ptr<backend::Tracer>(std::make_unique<FakeTracer>(vendor_));
  }

 private:
  const std::string name_;
  Vendor& vendor_;
};

class GpuRecordingTest : public testing::Test {
 protected:
  GpuRecordingTest() : sampler_({}, nullptr) {}

  void add_backend(std::string name, Vendor& vendor) {
    BackendInstruments one;
    one.backend = std::make_unique<FakeBackend>(std::move(name), vendor);
    if (!config_.dormant && config_.engine == "Trace") {
      const OpenedTracer opened = open_tracer(*one.backend, {}, kTraceEngine, start_ns_);
      one.tracer = opened.tracer;
      one.refusal = opened.support.trace.reason;
    }
    instruments_.backends.push_back(std::move(one));
  }
  // What Session does, less the log.
  void start(bool dormant, const std::string& engine = "Trace") {
    config_.engine = engine;
    config_.dormant = dormant;
    add_backend("first", vendor_);
    if (has_second_) add_backend("second", second_);
    collector_.emplace(CollectorParts{log_, sampler_, nullptr, nullptr, true, false, start_ns_, 0});
    recording_.emplace(instruments_, config_, *collector_, start_ns_);
    ASSERT_TRUE(collector_->start());
  }
  format::Ledger finish() {
    format::Ledger ledger;
    recording_->stop();
    collector_->stop(ledger);
    recording_->account(ledger, log_);
    return ledger;
  }
  std::vector<std::string> told(format::Kind kind, const char* field) const {
    std::vector<std::string> texts;
    for (const auto& [line_kind, line] : log_.objects) {
      if (line_kind == kind) texts.push_back(line[field].as_string());
    }
    return texts;
  }

  const int64_t start_ns_ = base::monotonic_ns();
  Vendor vendor_, second_;
  bool has_second_ = false;
  FakeLogWriter log_;
  Sampler sampler_;
  SessionConfig config_;
  Instruments instruments_;
  std::optional<Collector> collector_;
  std::optional<GpuRecording> recording_;
};

TEST_F(GpuRecordingTest, DormantAsksNothingOfTheVendor) {
  start(true);
  collector_->flush();
  EXPECT_EQ(recording_->state(), "dormant");
  EXPECT_EQ(vendor_.asked, 0);
  EXPECT_TRUE(recording_->pause());
  EXPECT_EQ(recording_->state(), "dormant");
  const format::Ledger ledger = finish();
  EXPECT_EQ(vendor_.asked, 0);
  EXPECT_EQ(ledger.kernel_records, std::nullopt);
}

TEST_F(GpuRecordingTest, TracersFollowEachOtherAndAddUp) {
  start(true);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(recording_->resume());
    EXPECT_TRUE(recording_->resume());  // again: nothing
    EXPECT_EQ(recording_->state(), "waiting_for_cuda");
    EXPECT_EQ(vendor_.tracers, 1);
    collector_->flush();
    EXPECT_TRUE(recording_->pause());
    EXPECT_TRUE(recording_->pause());
    EXPECT_EQ(recording_->state(), "paused");
    EXPECT_EQ(vendor_.tracers, 0);
  }
  EXPECT_TRUE(recording_->resume());
  const format::Ledger ledger = finish();
  EXPECT_EQ(vendor_.tracers, 0);
  EXPECT_EQ(recording_->state(), "ended");
  EXPECT_GE(*ledger.kernel_records, 2 * 6u);
  EXPECT_EQ(ledger.launches_seen, ledger.kernel_records);
  EXPECT_EQ(log_.rows(format::Kind::Sync).size(), *ledger.kernel_records);
  EXPECT_TRUE(ledger.is_complete());
  const std::vector<std::string> events = told(format::Kind::Event, "name");
  EXPECT_EQ(std::count(events.begin(), events.end(), "recording_resumed"), 6);
  EXPECT_EQ(std::count(events.begin(), events.end(), "recording_paused"), 5);
}

TEST_F(GpuRecordingTest, APhaseEndsAfterItsLastRecord) {
  namespace column = format::coverage_column;
  const auto last_end_ns = [&](format::Kind kind) {
    const std::vector<int64_t> row = log_.rows(kind).back();
    return row[column::kStart] + row[column::kDuration];
  };
  start(true);
  vendor_.runs_on_ns = 1;
  EXPECT_TRUE(recording_->resume());
  EXPECT_TRUE(recording_->pause());
  EXPECT_EQ(recording_->last_phase()->end_ns, collector_->last_work_end_ns());
  // A time that cannot be yet is none.
  vendor_.runs_on_ns = int64_t{1} << 60;
  EXPECT_TRUE(recording_->resume());
  finish();
  EXPECT_LT(recording_->last_phase()->end_ns, recording_->session_now());
  EXPECT_EQ(recording_->last_phase()->end_ns, last_end_ns(format::Kind::Coverage));
}

TEST_F(GpuRecordingTest, APartWithoutLaunchCountProvesNothing) {
  start(false);
  EXPECT_TRUE(recording_->pause());
  vendor_.counts_launches = false;
  EXPECT_TRUE(recording_->resume());
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.completeness(), format::Completeness::NotProven);
  const std::vector<std::string> notes = told(format::Kind::Capability, "feature");
  EXPECT_EQ(notes, std::vector<std::string>{"launch_count"});
}

TEST_F(GpuRecordingTest, WhatStandsInTheWayIsTheState) {
  vendor_.refuses = true;
  start(false);
  EXPECT_EQ(recording_->state(), "taken");
  const base::Status refused = recording_->resume();
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.message().rfind("taken: another tool has it", 0), 0u) << refused.message();
  EXPECT_EQ(recording_->state(), "taken");
  vendor_.refuses = false;
  EXPECT_TRUE(recording_->resume());
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.tracings_refused, 2u);
  EXPECT_TRUE(ledger.kernel_records.has_value());
  EXPECT_FALSE(ledger.is_complete());
  EXPECT_EQ(told(format::Kind::Capability, "reason"), std::vector<std::string>{"taken"});
  EXPECT_FALSE(recording_->resume());
  EXPECT_FALSE(recording_->pause());
}

TEST_F(GpuRecordingTest, BackendsRecordBesideEachOtherAndAddUp) {
  has_second_ = true;
  start(false);
  collector_->flush();
  EXPECT_EQ(recording_->traces().size(), 2u);
  EXPECT_TRUE(recording_->pause());
  EXPECT_EQ(recording_->state(), "paused");
  EXPECT_EQ(vendor_.tracers + second_.tracers, 0);
  EXPECT_TRUE(recording_->resume());
  EXPECT_EQ(vendor_.tracers + second_.tracers, 2);
  const format::Ledger ledger = finish();
  EXPECT_GE(*ledger.kernel_records, 2 * (2 + 1u));
  EXPECT_EQ(ledger.launches_seen, ledger.kernel_records);
  EXPECT_EQ(log_.rows(format::Kind::Sync).size(), *ledger.kernel_records);
  EXPECT_TRUE(ledger.is_complete());
}

TEST_F(GpuRecordingTest, ABackendThatRefusesDoesNotStopAnother) {
  has_second_ = true;
  vendor_.refuses = true;
  start(false);
  EXPECT_EQ(recording_->state(), "waiting_for_cuda") << "the second's";
  EXPECT_TRUE(recording_->pause());
  EXPECT_TRUE(recording_->resume());
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.tracings_refused, 2u);
  EXPECT_TRUE(ledger.kernel_records.has_value());
  EXPECT_EQ(told(format::Kind::Capability, "backend"), std::vector<std::string>{"first"});
}

TEST_F(GpuRecordingTest, WhatOneBackendDoesNotCountIsUnknown) {
  has_second_ = true;
  second_.counts_launches = false;
  start(false);
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.launches_seen, std::nullopt);
  EXPECT_EQ(ledger.completeness(), format::Completeness::NotProven);
}

TEST_F(GpuRecordingTest, MonitorHasNothingToResume) {
  start(false, "Monitor");
  EXPECT_EQ(recording_->state(), "monitoring");
  const base::Status refused = recording_->resume();
  EXPECT_EQ(refused.message().rfind("engine_too_low: ", 0), 0u) << refused.message();
  EXPECT_EQ(vendor_.asked, 0);
  (void)finish();
}

TEST_F(GpuRecordingTest, FromManyThreadsUntilItEnds) {
  start(false);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      while (!done) {
        if (t % 2 == 0) {
          (void)recording_->resume();
        } else {
          (void)recording_->pause();
        }
        (void)recording_->state();
        (void)collector_->status(std::chrono::milliseconds(1));
      }
    });
  }
  EXPECT_TRUE(base::eventually([&] { return vendor_.asked >= 5; }));
  const format::Ledger ledger = finish();
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(vendor_.tracers, 0);
  EXPECT_EQ(log_.rows(format::Kind::Sync).size(), *ledger.kernel_records);
}

constexpr std::chrono::milliseconds kBriefly{20};

TEST_F(GpuRecordingTest, RecordingBeginsWhenTheLibraryHasComeBack) {
  start(true);
  vendor_.hangs_in_start = true;
  for (int i = 0; i < 2; ++i) {
    const base::Status resumed = recording_->resume({}, kBriefly);
    EXPECT_EQ(resumed.message().rfind("attaching: ", 0), 0u) << resumed.message();
    EXPECT_TRUE(recording_->is_attaching());
    EXPECT_EQ(recording_->state(), "attaching");
  }
  vendor_.hangs_in_start = false;
  EXPECT_TRUE(base::eventually([&] { return recording_->phase().has_value(); }));
  EXPECT_TRUE(recording_->resume());
  EXPECT_FALSE(recording_->is_attaching());
  EXPECT_TRUE(recording_->pause());
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.phases, 1u);
  EXPECT_TRUE(ledger.is_complete());
  const std::vector<std::string> events = told(format::Kind::Event, "name");
  EXPECT_EQ(std::count(events.begin(), events.end(), "attaching_overdue"), 1);
}

TEST_F(GpuRecordingTest, WhatWasPausedBeforeItBeganDoesNotBegin) {
  start(true);
  vendor_.hangs_in_start = true;
  EXPECT_FALSE(recording_->resume({}, kBriefly));
  EXPECT_TRUE(recording_->pause(format::CoverageEnd::Request, true, kBriefly));
  EXPECT_EQ(recording_->state(), "paused");
  vendor_.hangs_in_start = false;
  EXPECT_TRUE(base::eventually([&] { return !recording_->is_attaching(); }));
  EXPECT_FALSE(recording_->phase());
  EXPECT_EQ(vendor_.tracers, 0);
  EXPECT_TRUE(recording_->resume());
  EXPECT_TRUE(recording_->phase());
  EXPECT_EQ(finish().phases, 1u);
}

TEST_F(GpuRecordingTest, WhatIsWantedAgainBeforeItBeganBegins) {
  start(true);
  vendor_.hangs_in_start = true;
  EXPECT_FALSE(recording_->resume({}, kBriefly));
  EXPECT_TRUE(recording_->pause(format::CoverageEnd::Request, true, kBriefly));
  EXPECT_FALSE(recording_->resume({format::CoverageReason::Budget, kTraceEngine}, kBriefly))
      << "what is being started takes samples";
  EXPECT_EQ(recording_->state(), "paused");
  EXPECT_FALSE(recording_->resume({format::CoverageReason::Budget, kSamplingEngine}, kBriefly));
  EXPECT_EQ(recording_->state(), "attaching");
  vendor_.hangs_in_start = false;
  EXPECT_TRUE(base::eventually([&] { return recording_->phase().has_value(); }));
  EXPECT_EQ(recording_->phase()->why, format::CoverageReason::Budget);
  (void)finish();
}

TEST_F(GpuRecordingTest, TheEndDoesNotWaitForALibraryThatDoesNotComeBack) {
  start(true);
  vendor_.hangs_in_start = true;
  EXPECT_FALSE(recording_->resume({}, kBriefly));
  EXPECT_FALSE(recording_->stop(kBriefly)) << "it has to be kept";
  format::Ledger ledger;
  collector_->stop(ledger);
  recording_->account(ledger, log_);
  EXPECT_EQ(ledger.tracings_refused, 1u);
  EXPECT_FALSE(ledger.is_complete());
  vendor_.hangs_in_start = false;
  EXPECT_TRUE(base::eventually([&] { return !recording_->is_attaching(); }));
  EXPECT_EQ(vendor_.tracers, 0) << "given up as soon as it was there";
}

TEST_F(GpuRecordingTest, TheEndDoesNotWaitForATracerThatDoesNotStop) {
  start(false);
  collector_->flush();
  vendor_.hangs_in_stop = vendor_.leaves_unread = true;
  std::thread hand([&] { (void)recording_->pause(); });
  EXPECT_TRUE(base::eventually(
      [&] { return recording_->resume({}, kBriefly).message().rfind("busy: ", 0) == 0; }));
  EXPECT_FALSE(recording_->pause(format::CoverageEnd::Request, true, kBriefly));
  EXPECT_FALSE(recording_->stop(kBriefly)) << "it has to be kept";
  vendor_.hangs_in_stop = false;
  hand.join();
  format::Ledger ledger;
  collector_->stop(ledger);
  recording_->account(ledger, log_);
}

TEST_F(GpuRecordingTest, APauseThatTheCollectorHoldsUpIsFinishedLater) {
  start(false);
  collector_->flush();
  vendor_.hangs_in_round = true;
  const base::Status paused = recording_->pause(format::CoverageEnd::Request, true, kBriefly);
  EXPECT_EQ(paused.message().rfind("busy: ", 0), 0u) << paused.message();
  EXPECT_FALSE(recording_->resume({}, kBriefly));
  vendor_.hangs_in_round = false;
  EXPECT_TRUE(recording_->resume());
  EXPECT_EQ(vendor_.tracers, 1);
  const format::Ledger ledger = finish();
  EXPECT_EQ(ledger.phases, 2u);
  EXPECT_EQ(log_.rows(format::Kind::Sync).size(), *ledger.kernel_records);
}

TEST_F(GpuRecordingTest, StatusKnowsWhatIsCountedSoFar) {
  start(false);
  collector_->flush();
  const auto status = collector_->status(std::chrono::seconds(10));
  ASSERT_TRUE(status);
  EXPECT_TRUE(!status->traces.empty());
  EXPECT_GE(status->ledger.kernel_records.value_or(0), 1u);
  EXPECT_GT(status->ledger.collector_cpu_ns, 0);
  EXPECT_EQ(status->traces.at(0).status.state, "waiting_for_cuda");
  (void)finish();
  EXPECT_FALSE(collector_->status(std::chrono::milliseconds(1)));
}

}  // namespace
}  // namespace gpufl::capture
