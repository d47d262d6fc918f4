// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/pc_sampler.hpp"

#include <algorithm>
#include <utility>

#include "backend/nvidia/cupti/sample_windows.hpp"
#include "backend/nvidia/cupti/sampling_support.hpp"
#include "base/clock.hpp"
#include "format/engines.hpp"

namespace gpufl::backend {
namespace {

using std::chrono::nanoseconds;

// A longer period falls in step with loops of the kernel: with 2^16 some instructions of a plain
// loop were sampled too often by a fifth, with 2^15 and less none.
constexpr int kDefaultPeriodExponent = 14;
constexpr nanoseconds kDeepWindow{100'000'000};

class SampledContext final : public AttachedContext {
 public:
  SampledContext(const CuptiApi& api, CUcontext context, uint32_t device, int period_exponent)
      : AttachedContext(context, device), sampling(api, context), period_(period_exponent) {}
  Availability enable() override { return sampling.enable(period_); }
  Availability disable() override { return sampling.disable(); }
  const char* enable_call() const override { return "cuptiPCSamplingEnable"; }
  const char* disable_call() const override { return "cuptiPCSamplingDisable"; }

  PcSamplingContext sampling;
  bool is_sampled = false;  // in the window that is open

 private:
  const int period_;
};

class PcSampler final : public ContextWorker {
 public:
  PcSampler(const EnginePlace& place, const PcSamplingOptions& options)
      : ContextWorker(place), options_(options) {}

  const char* name() const override { return "PC sampling"; }
  std::string_view engine() const override { return format::kSamplingEngine; }
  const char* hang_reason() const override { return "sampling_hangs"; }
  void drain(DeviceNumbers& devices, RowSink& sink) override {
    windows_.drain(session_start_ns_, devices, sink);
  }
  void account(format::Ledger& ledger) const override { windows_.account(ledger); }
  void report(TraceStatus& status) const override {
    status.sampling = {state("sampling"), windows_.taken(), windows_.skipped(), windows_.busy_ns(),
                       false};
  }

 private:
  Availability ask(uint32_t device, CUcontext context) override {
    Availability why = sampling_support(api_, driver_, devices_, device);
    return why.available ? sampling_memory(contexts_of_, context) : why;
  }
  std::unique_ptr<AttachedContext> make_context(CUcontext context, uint32_t device) override {
    const int chosen = options_.period_exponent;
    return std::make_unique<SampledContext>(api_, context, device,
                                            chosen != 0 ? chosen : kDefaultPeriodExponent);
  }
  void take_turn() override;
  int64_t next_turn_ns() const override {
    const bool is_deep = why() != format::CoverageReason::Schedule;
    return is_deep ? not_before_ns_ : next_window_ns_;
  }
  void end_calls() override {
    make_or_fail("cuptiProfilerDeInitialize", [&] {
      end_sampling(api_);
      return Availability{true, "", "", ""};
    });
  }
  bool open_windows();
  void close_windows(int64_t begin_ns, format::CoverageReason why);
  format::CoverageReason why() const {
    return options_.deep != nullptr ? options_.deep->why() : format::CoverageReason::Schedule;
  }
  static SampledContext& sampled(const std::unique_ptr<AttachedContext>& one) {
    return static_cast<SampledContext&>(*one);
  }

  const PcSamplingOptions options_;
  int64_t next_window_ns_ = 0;
  int64_t not_before_ns_ = 0;
  uint64_t held_before_ns_ = 0;
  bool has_started_ = false;
  SampleWindows windows_;
};

void PcSampler::take_turn() {
  const format::CoverageReason reason = why();
  const bool is_deep = reason != format::CoverageReason::Schedule;
  const nanoseconds length = is_deep ? std::max(kDeepWindow, nanoseconds(options_.window_ns))
                                     : nanoseconds(options_.window_ns);
  next_window_ns_ = base::monotonic_ns() + length.count() + options_.pause_ns;
  const bool is_open = open_windows();
  const int64_t begin_ns = base::monotonic_ns();
  if (!is_open) {
    // Others were held for as long as the patience was: not soon again.
    not_before_ns_ = begin_ns + 20 * nanoseconds(kWindowPatience).count();
    next_window_ns_ = std::min(next_window_ns_, not_before_ns_);
    if (!is_over()) windows_.skip();
    return;
  }
  wait_within_turn(length);
  close_windows(begin_ns, reason);
}

// One context after the other, with launches let through in between: each takes its time. False
// where not even one could be opened.
bool PcSampler::open_windows() {
  held_before_ns_ = gate_.counts_when_released().held_ns;
  gate_.take_longest_ns();
  bool is_open = false;
  for (const auto& attached_one : attached()) {
    SampledContext& one = sampled(attached_one);
    one.is_sampled = false;
    if (is_over() || !shut_for_window()) continue;
    one.is_sampled = !is_gone(one) && make_or_fail("cuptiPCSamplingStart",
                                                   [&] { return one.sampling.open_window(); });
    open_gate();
    is_open |= one.is_sampled;
  }
  // The first start after attaching takes as long as that, and is a part of it.
  if (is_open && !std::exchange(has_started_, true)) {
    gate_.counts_when_released();
    gate_.take_longest_ns();
  }
  return is_open;
}

void PcSampler::close_windows(int64_t begin_ns, format::CoverageReason why) {
  drop_destroyed();
  std::vector<WindowRows> windows;
  for (const auto& attached_one : attached()) {
    SampledContext& one = sampled(attached_one);
    if (!one.is_sampled || !shut_for_stop()) continue;
    WindowRows window{begin_ns, base::monotonic_ns(), 0, one.device(), one.id(), why, {}};
    const bool is_closed = !is_gone(one) && make_or_fail("cuptiPCSamplingStop", [&] {
      return one.sampling.close_window(window.samples);
    });
    open_gate();
    one.is_sampled = false;
    if (is_closed) windows.push_back(std::move(window));
  }
  const auto held_ns = static_cast<int64_t>(gate_.counts_when_released().held_ns - held_before_ns_);
  for (WindowRows& window : windows) {
    window.cost_ns = held_ns / static_cast<int64_t>(windows.size());
  }
  windows_.put(std::move(windows), gate_.take_longest_ns());
}

}  // namespace

std::shared_ptr<ContextWorker> make_pc_sampler(const EnginePlace& place,
                                               const PcSamplingOptions& options) {
  return std::make_shared<PcSampler>(place, options);
}

}  // namespace gpufl::backend
