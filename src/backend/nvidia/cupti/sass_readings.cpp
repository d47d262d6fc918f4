// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/sass_readings.hpp"

#include <utility>

#include "backend/nvidia/code/module_watch.hpp"

namespace gpufl::backend {
namespace {

constexpr size_t kMaxWaitingValues = 4'000'000;  // values

// The code of these is wanted.
void tell_counted(const SassReading& reading) {
  std::set<std::pair<uint64_t, uint32_t>> functions;
  for (const SassValue& value : reading.values) functions.emplace(value.module, value.function);
  for (const auto& [module, function] : functions) {
    ModuleWatch::instance().on_sampled(module, reading.functions[function]);
  }
}

std::vector<int64_t> intern_all(const std::vector<std::string>& names, format::Dict dict,
                                RowSink& sink) {
  std::vector<int64_t> ids;
  ids.reserve(names.size());
  for (const std::string& name : names) ids.push_back(sink.intern(dict, name));
  return ids;
}

}  // namespace

void SassReadings::put(SassReading reading) {
  const std::lock_guard lock(mutex_);
  values_ += reading.values.size() + reading.dropped;
  dropped_ += reading.dropped;
  if (waiting_values_ + reading.values.size() > kMaxWaitingValues) {
    dropped_ += reading.values.size();
    return;
  }
  waiting_values_ += reading.values.size();
  waiting_.push_back(std::move(reading));
}

void SassReadings::drain(int64_t session_start_ns, DeviceNumbers& devices, RowSink& sink) {
  std::vector<SassReading> readings;
  {
    const std::lock_guard lock(mutex_);
    readings.swap(waiting_);
    waiting_values_ = 0;
  }
  for (const SassReading& reading : readings) {
    const int64_t device = devices.of(reading.device);
    tell_counted(reading);
    const std::vector<int64_t> functions = intern_all(reading.functions, format::Dict::Name, sink);
    const std::vector<int64_t> metrics = intern_all(reading.metrics, format::Dict::Metric, sink);
    format::Batch rows(format::Kind::SassMetric);
    for (const SassValue& value : reading.values) {
      rows.push_row({reading.time_ns - session_start_ns, device, int64_t{reading.context},
                     static_cast<int64_t>(value.module), functions[value.function],
                     static_cast<int64_t>(value.pc), metrics[value.metric],
                     static_cast<int64_t>(value.value), 0, 0});
    }
    if (!rows.empty()) sink.submit(rows);
  }
}

void SassReadings::account(format::Ledger& ledger) const {
  const std::lock_guard lock(mutex_);
  ledger.sass_values = values_;
  ledger.sass_values_dropped = dropped_;
}

}  // namespace gpufl::backend
