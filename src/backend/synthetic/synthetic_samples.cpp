// SPDX-License-Identifier: Apache-2.0
#include "backend/synthetic/synthetic_samples.hpp"

#include <string>

#include "backend/synthetic/random.hpp"

namespace gpufl::backend {
namespace {

constexpr int64_t kClockHz = 1'980'000'000;
constexpr int64_t kSchedulers = 400;
constexpr int kDefaultPeriod = 18;
constexpr uint64_t kFirstModule = 0x5eed0001;
constexpr int64_t kInstructionBytes = 16;
constexpr int64_t kInstructions = 8;  // of a function that samples are found at
constexpr uint64_t kDrainsAtMost = 4096;

// Their shares of a function's samples, in percent. Issued ones have no pair.
struct Stall {
  std::string_view name;
  int64_t share;
  bool has_pair;
};
constexpr Stall kStalls[] = {
    {"smsp__pcsamp_warps_issue_stalled_long_scoreboard", 50, true},
    {"smsp__pcsamp_warps_issue_stalled_math_pipe_throttle", 20, true},
    {"smsp__pcsamp_warps_issue_stalled_wait", 12, true},
    {"smsp__pcsamp_warps_issue_stalled_barrier", 8, true},
    {"smsp__pcsamp_warps_issue_stalled_selected", 10, false},
};

}  // namespace

SyntheticSamples::SyntheticSamples(const SyntheticOptions& options,
                                   const PcSamplingOptions& sampling,
                                   std::span<const std::string_view> functions)
    : options_(options), sampling_(sampling), functions_(functions) {}

int64_t SyntheticSamples::samples_of_window() const {
  const int period = sampling_.period_exponent > 0 ? sampling_.period_exponent : kDefaultPeriod;
  const int64_t cycles = sampling_.window_ns * (kClockHz / 1'000'000) / 1000;
  return (cycles >> period) * kSchedulers;
}

void SyntheticSamples::drain(int64_t until_ns, RowSink& sink) {
  const auto is_deep = [&] { return sampling_.deep != nullptr && sampling_.deep->is_any(); };
  rows_.clear();
  coverage_.clear();
  for (uint64_t i = 0; i < kDrainsAtMost && next_window_ns_ + sampling_.window_ns <= until_ns;
       ++i) {
    write_window(sink);
    next_window_ns_ += sampling_.window_ns + (is_deep() ? 0 : sampling_.pause_ns);
  }
  if (!rows_.empty()) sink.submit(rows_);
  if (!coverage_.empty()) sink.submit(coverage_);
}

void SyntheticSamples::write_window(RowSink& sink) {
  namespace column = format::coverage_column;
  using format::CoverageReason;
  const int64_t engine = sink.intern(format::Dict::Name, "PcSampling");
  for (int64_t device = 0; device < options_.devices; ++device) {
    const uint64_t before = samples_;
    add_samples(device, sink);
    auto& b = coverage_;
    b.mutable_column(column::kStart).push_back(next_window_ns_);
    b.mutable_column(column::kDuration).push_back(sampling_.window_ns);
    b.mutable_column(column::kEngine).push_back(engine);
    b.mutable_column(column::kShape).push_back(static_cast<int64_t>(format::CoverageShape::Window));
    const auto why = sampling_.deep != nullptr ? sampling_.deep->why() : CoverageReason::Schedule;
    b.mutable_column(column::kWhy).push_back(static_cast<int64_t>(why));
    b.mutable_column(column::kEnding)
        .push_back(static_cast<int64_t>(format::CoverageEnd::Schedule));
    b.mutable_column(column::kDevice).push_back(options_.first_device + device);
    b.mutable_column(column::kSamples).push_back(static_cast<int64_t>(samples_ - before));
    b.mutable_column(column::kDropped).push_back(0);
    b.mutable_column(column::kCost).push_back(-1);
    b.mutable_column(column::kLaunches).push_back(-1);
    b.set_rows(b.rows() + 1);
  }
  windows_.fetch_add(1, std::memory_order_relaxed);
}

void SyntheticSamples::add_samples(int64_t device, RowSink& sink) {
  namespace column = format::pc_sample_column;
  const uint64_t window = windows_.load(std::memory_order_relaxed);
  const auto add = [&](size_t function, int64_t pc, std::string_view stall, int64_t samples) {
    if (samples <= 0) return;
    auto& b = rows_;
    b.mutable_column(column::kTime).push_back(next_window_ns_ + sampling_.window_ns);
    b.mutable_column(column::kDevice).push_back(options_.first_device + device);
    b.mutable_column(column::kContext).push_back(options_.first_device + device + 1);
    b.mutable_column(column::kModule).push_back(static_cast<int64_t>(kFirstModule + function));
    b.mutable_column(column::kFunction)
        .push_back(sink.intern(format::Dict::Name, functions_[function]));
    b.mutable_column(column::kPc).push_back(pc);
    b.mutable_column(column::kStall).push_back(sink.intern(format::Dict::Metric, stall));
    b.mutable_column(column::kSamples).push_back(samples);
    b.set_rows(b.rows() + 1);
  };
  int64_t left = samples_of_window();
  for (size_t function = 0; function < functions_.size(); ++function) {
    const int64_t its = function + 1 < functions_.size() ? left / 2 : left;
    left -= its;
    for (const Stall& stall : kStalls) {
      const uint64_t random = random_at(options_.seed ^ window, function);
      const int64_t pc = kInstructionBytes * scaled(random << stall.share % 8, kInstructions);
      const int64_t samples = its * stall.share / 100;
      add(function, pc, stall.name, samples);
      samples_ += static_cast<uint64_t>(samples);
      // Of these, the samples in which the scheduler issued nothing at all.
      if (stall.has_pair)
        add(function, pc, std::string(stall.name) + "_not_issued", samples * 3 / 4);
    }
  }
}

void SyntheticSamples::account(format::Ledger& ledger) const {
  ledger.sampling_windows = windows_.load(std::memory_order_relaxed);
  ledger.sampling_windows_skipped = 0;
  ledger.pc_samples = samples_;
  ledger.pc_samples_dropped = ledger.pc_samples_unlocated = ledger.sampling_buffers_full = 0;
  ledger.launches_held = ledger.launches_held_ns = 0;
  ledger.longest_hold_ns = ledger.longest_window_hold_ns = 0;
}

SamplingStatus SyntheticSamples::status(bool is_stopped) const {
  SamplingStatus status;
  status.state = is_stopped ? "ended" : "sampling";
  status.windows = windows_.load(std::memory_order_relaxed);
  return status;
}

}  // namespace gpufl::backend
