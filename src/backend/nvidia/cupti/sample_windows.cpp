// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/sample_windows.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "backend/nvidia/code/module_watch.hpp"
#include "format/engines.hpp"

namespace gpufl::backend {
namespace {

constexpr size_t kMaxWaiting = 1'000'000;  // samples

std::vector<int64_t> intern_all(const SampledNames& names, format::Dict dict, RowSink& sink) {
  std::vector<int64_t> ids;
  for (const std::string& name : names.all()) ids.push_back(sink.intern(dict, name));
  return ids;
}

// The code of these is wanted.
void tell_sampled(const SampleWindow& window) {
  std::set<std::pair<uint64_t, uint32_t>> functions;
  for (const PcSample& sample : window.samples) functions.emplace(sample.module, sample.function);
  for (const auto& [module, function] : functions) {
    ModuleWatch::instance().on_sampled(module, window.functions.all()[function]);
  }
}

void add_samples(const SampleWindow& window, int64_t time_ns, int64_t device, int64_t context,
                 RowSink& sink, format::Batch& rows) {
  const std::vector<int64_t> functions = intern_all(window.functions, format::Dict::Name, sink);
  const std::vector<int64_t> stalls = intern_all(window.stalls, format::Dict::Metric, sink);
  for (const PcSample& sample : window.samples) {
    rows.push_row({time_ns, device, context, static_cast<int64_t>(sample.module),
                   functions[sample.function], static_cast<int64_t>(sample.pc),
                   stalls[sample.stall], int64_t{sample.samples}, 0, 0});
  }
}

void add_coverage(const WindowRows& window, int64_t session_start_ns, int64_t engine,
                  int64_t device, format::Batch& rows) {
  rows.push_row({window.begin_ns - session_start_ns, window.end_ns - window.begin_ns, engine,
                 static_cast<int64_t>(format::CoverageShape::Window),
                 static_cast<int64_t>(window.why),
                 static_cast<int64_t>(format::CoverageEnd::Schedule), window.cost_ns,
                 static_cast<int64_t>(format::CostMeasure::Calls), device,
                 static_cast<int64_t>(window.samples.total),
                 static_cast<int64_t>(window.samples.dropped), -1});
}

}  // namespace

void SampleWindows::put(std::vector<WindowRows> window, uint64_t longest_hold_ns) {
  const std::lock_guard lock(mutex_);
  longest_hold_ns_ = std::max(longest_hold_ns_, longest_hold_ns);
  if (window.empty()) {
    ++skipped_;
    return;
  }
  ++taken_;
  int64_t busy_ns = 0;
  for (const WindowRows& rows : window) {
    if (rows.samples.total != 0) busy_ns = std::max(busy_ns, rows.end_ns - rows.begin_ns);
  }
  busy_ns_ += busy_ns;
  for (WindowRows& rows : window) add(std::move(rows));
}

void SampleWindows::add(WindowRows rows) {
  SampleWindow& window = rows.samples;
  if (window.is_buffer_full) ++full_;
  total_ += window.total;
  dropped_ += window.dropped;
  unlocated_ += window.unlocated;
  if (waiting_samples_ + window.samples.size() > kMaxWaiting) {
    dropped_ += window.total - std::min(window.total, window.unlocated + window.dropped);
    window.samples.clear();
  }
  waiting_samples_ += window.samples.size();
  waiting_.push_back(std::move(rows));
}

void SampleWindows::skip() {
  const std::lock_guard lock(mutex_);
  ++skipped_;
}

void SampleWindows::drain(int64_t session_start_ns, DeviceNumbers& devices, RowSink& sink) {
  std::vector<WindowRows> windows;
  {
    const std::lock_guard lock(mutex_);
    windows.swap(waiting_);
    waiting_samples_ = 0;
  }
  if (windows.empty()) return;
  format::Batch samples(format::Kind::PcSample);
  format::Batch coverage(format::Kind::Coverage);
  const int64_t engine = sink.intern(format::Dict::Name, format::kSamplingEngine);
  for (const WindowRows& window : windows) {
    const int64_t device = devices.of(window.device);
    tell_sampled(window.samples);
    add_samples(window.samples, window.end_ns - session_start_ns, device, window.context, sink,
                samples);
    add_coverage(window, session_start_ns, engine, device, coverage);
  }
  if (!samples.empty()) sink.submit(samples);
  sink.submit(coverage);
}

void SampleWindows::account(format::Ledger& ledger) const {
  const std::lock_guard lock(mutex_);
  ledger.sampling_windows = taken_;
  ledger.sampling_windows_skipped = skipped_;
  ledger.pc_samples = total_;
  ledger.pc_samples_dropped = dropped_;
  ledger.pc_samples_unlocated = unlocated_;
  ledger.sampling_buffers_full = full_;
  ledger.longest_window_hold_ns = longest_hold_ns_;
}

uint64_t SampleWindows::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

int64_t SampleWindows::busy_ns() const {
  const std::lock_guard lock(mutex_);
  return busy_ns_;
}

uint64_t SampleWindows::skipped() const {
  const std::lock_guard lock(mutex_);
  return skipped_;
}

}  // namespace gpufl::backend
