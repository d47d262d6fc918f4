// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/eventually.hpp"
#include "capture/fake_log_writer.hpp"
#include "capture/phase_pacer.hpp"

// A pacer whose looks are taken one by one, at times that the test sets, over a backend that is
// made for it.
namespace gpufl::capture::paced {

using format::CoverageEnd;
using format::CoverageReason;

inline constexpr int64_t kMillisecond = 1'000'000;
inline constexpr int64_t kSecond = 1000 * kMillisecond;

inline std::atomic<int64_t> g_now{0};
inline int64_t test_clock() { return g_now; }

struct Vendor {
  std::atomic<int> tracers{0};
  std::atomic<bool> refuses{false}, is_busy{false}, must_stay{false}, overlaps{false};
  std::atomic<bool> samples_available{true};
  std::atomic<bool> counting_fails{false}, has_counted{false};
  std::atomic<uint64_t> launches{1};
  std::atomic<bool> hangs_in_start{false}, hangs_in_stop{false}, is_in_stop{false};
  std::atomic<bool> stays_attached{false}, has_ended_sampling{false};
  std::atomic<uint64_t> windows{0}, windows_skipped{0};
  std::atomic<uint64_t> launches_per_s{0};
  std::atomic<bool> tells_launches{false};  // in the status, as in the account
  std::string sampling_state = "sampling";
  std::atomic<uint64_t> held_ns{0};
  std::atomic<int64_t> windows_ns{0};
};

inline void wait_while(const std::atomic<bool>& hangs) {
  while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

class PacedTracer final : public backend::Tracer {
 public:
  PacedTracer(Vendor& vendor, bool samples, bool counts)
      : vendor_(vendor), samples_(samples), counts_(counts) {
    ++vendor_.tracers;
  }
  ~PacedTracer() override { --vendor_.tracers; }
  backend::Availability start(int64_t) override {
    wait_while(vendor_.hangs_in_start);
    g_now += 10 * kMillisecond;
    began_ns_ = g_now;
    if (vendor_.refuses) return {false, "taken", "another tool has it", ""};
    return {true, "", "", ""};
  }
  void stop() override {
    vendor_.is_in_stop = true;
    wait_while(vendor_.hangs_in_stop);
    end_ns_ = g_now.load();
    g_now += 20 * kMillisecond;
  }
  void drain(int64_t, backend::RowSink&) override {}
  void account(format::Ledger& ledger) const override {
    ledger.launches_seen = ledger.kernel_records = counted();
    ledger.launches_held_ns = vendor_.held_ns;
    if (counts_ && !vendor_.counting_fails) ledger.launches_counted = ledger.launches_seen;
  }
  backend::TraceStatus status() const override {
    backend::TraceStatus status;
    status.state = "recording";
    status.launches = vendor_.tells_launches ? counted() : vendor_.launches.load();
    if (counts_) status.counting = vendor_.counting_fails ? "permission_denied" : "counting";
    if (counts_ && vendor_.has_counted) status.counting = "counted";
    if (samples_) {
      status.sampling.emplace();
      status.sampling->state = vendor_.has_ended_sampling ? "ended" : vendor_.sampling_state;
      status.sampling->windows = vendor_.windows;
      status.sampling->windows_skipped = vendor_.windows_skipped;
      status.sampling->busy_ns = vendor_.windows_ns;
      status.sampling->threads_overlap = vendor_.overlaps;
    }
    return status;
  }
  bool may_detach() const override { return !vendor_.is_busy; }
  std::optional<backend::Availability> cannot_detach() const override {
    if (!vendor_.must_stay) return std::nullopt;
    return backend::Availability{false, "cupti_too_old", "graphs were captured",
                                 "take a newer one"};
  }
  bool is_still_attached() const override { return vendor_.stays_attached; }
  bool end_sampling() override { return samples_ && !vendor_.has_ended_sampling.exchange(true); }

 private:
  uint64_t counted() const {
    const int64_t end_ns = end_ns_ != 0 ? end_ns_.load() : g_now.load();
    const int64_t ms = (end_ns - began_ns_) / kMillisecond;
    return vendor_.launches_per_s * static_cast<uint64_t>(ms) / 1000;
  }

  Vendor& vendor_;
  const bool samples_, counts_;
  int64_t began_ns_ = 0;
  std::atomic<int64_t> end_ns_{0};
};

class PacedBackend final : public backend::Backend {
 public:
  explicit PacedBackend(Vendor& vendor) : vendor_(vendor) {}
  std::string_view name() const override { return "paced"; }
  backend::Availability health_available() override { return {}; }
  backend::Availability trace_available() override { return {true, "", "", ""}; }
  backend::Availability sampling_available() override {
    return {vendor_.samples_available, "permission_denied", "", ""};
  }
  backend::Availability counting_available() override { return {true, "", "", ""}; }
  backend::Availability ranging_available() override { return {true, "", "", ""}; }
  base::Result<std::unique_ptr<backend::HealthSource>> make_health_source() override {
    return base::Status(base::Code::Unsupported, "none");
  }
  base::Result<std::unique_ptr<backend::Tracer>> make_tracer(
      const backend::TraceOptions& options) override {
    return std::unique_ptr<backend::Tracer>(
        std::make_unique<PacedTracer>(vendor_, options.pc_sampling.has_value(), options.counts()));
  }

 private:
  Vendor& vendor_;
};

class PhasePacerTest : public testing::Test {
 protected:
  PhasePacerTest() : sampler_({}, nullptr) { g_now = 0; }
  ~PhasePacerTest() override {
    pacer_.reset();
    if (!is_finished_) (void)finish();
  }

  // What Session does, less the log.
  void start(const std::string& engine, double budget, bool dormant = false) {
    config_.engine = engine;
    config_.overhead_budget = budget;
    config_.dormant = dormant;
    if (takes_samples(engine)) instruments_.trace_options.pc_sampling.emplace();
    if (counting_engine(engine) == kSassEngine) instruments_.trace_options.sass.emplace();
    if (counting_engine(engine) == kRangeEngine) instruments_.trace_options.ranges.emplace();
    BackendInstruments one;
    one.backend = std::make_unique<PacedBackend>(vendor_);
    if (!dormant) {
      const OpenedTracer opened =
          open_tracer(*one.backend, instruments_.trace_options,
                      config_.deep_windows.is_only ? kTraceEngine : first_engine(engine), 0);
      one.tracer = opened.tracer;
      one.phase_engine = opened.engine;
      one.refusal = opened.support.trace.reason;
    }
    instruments_.attached_ns = instruments_.attaching_ns = g_now;
    instruments_.backends.push_back(std::move(one));
    collector_.emplace(
        CollectorParts{log_, sampler_, nullptr, nullptr, false, false, base::monotonic_ns(), 0});
    recording_.emplace(instruments_, config_, *collector_, 0, test_clock);
    ASSERT_TRUE(collector_->start());
    windows_.emplace(config_.deep_windows, config_.engine);
    pacer_.emplace(PhasePacer::Parts{*recording_, *collector_, *instruments_.deep, *windows_,
                                     [this] { return utilization_; }, budget, config_.engine,
                                     dormant, patience_});
  }
  void pass(int64_t duration_ns) {
    for (const int64_t end_ns = g_now + duration_ns; g_now < end_ns;) {
      g_now += 20 * kMillisecond;
      pacer_->look();
    }
  }
  bool is_attached() const { return recording_->phase().has_value(); }
  // Looks until something is attached or not; how long that took.
  int64_t pass_until(bool attached) {
    const int64_t begin_ns = g_now;
    while (is_attached() != attached && g_now - begin_ns < 3600 * kSecond) pass(20 * kMillisecond);
    EXPECT_EQ(is_attached(), attached);
    return g_now - begin_ns;
  }
  format::Ledger finish() {
    is_finished_ = true;
    format::Ledger ledger;
    recording_->stop();
    collector_->stop(ledger);
    recording_->account(ledger, log_);
    return ledger;
  }
  struct Row {
    std::string engine;
    CoverageReason why;
    CoverageEnd ending;
    int64_t begin_ns, duration_ns, cost_ns, launches;
    format::CostMeasure measure;
  };
  std::vector<Row> rows() const {
    namespace column = format::coverage_column;
    std::vector<Row> all;
    for (const auto& row : log_.rows(format::Kind::Coverage)) {
      all.push_back({log_.text(format::Dict::Name, row[column::kEngine]),
                     static_cast<CoverageReason>(row[column::kWhy]),
                     static_cast<CoverageEnd>(row[column::kEnding]), row[column::kStart],
                     row[column::kDuration], row[column::kCost], row[column::kLaunches],
                     static_cast<format::CostMeasure>(row[column::kMeasure])});
    }
    return all;
  }

  Vendor vendor_;
  FakeLogWriter log_;
  Sampler sampler_;
  SessionConfig config_;
  Instruments instruments_;
  std::optional<Collector> collector_;
  std::optional<GpuRecording> recording_;
  std::optional<DeepWindows> windows_;
  std::optional<double> utilization_;
  std::optional<PhasePacer> pacer_;
  std::chrono::milliseconds patience_ = GpuRecording::kPatience;
  bool is_finished_ = false;
};

}  // namespace gpufl::capture::paced
