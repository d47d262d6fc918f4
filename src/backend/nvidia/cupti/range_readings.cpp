// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/range_readings.hpp"

#include <algorithm>
#include <utility>

#include "base/decimal.hpp"

namespace gpufl::backend {
namespace {

constexpr size_t kMostTold = 256;

void tell_beside(const RangeReading& reading, int64_t session_start_ns, RowSink& sink) {
  std::string names;
  for (const std::string& name : reading.beside)
    names.append(names.empty() ? "" : ", ").append(name);
  base::Json line = base::Json::object();
  line.set("time", reading.end_ns - session_start_ns)
      .set("name", "range_shared")
      .set("range", reading.scope)
      .set("text", "counters of " + reading.scope +
                       " include what scopes of other threads did meanwhile: " + names);
  sink.write(format::Kind::Event, line);
}

}  // namespace

// Where nothing ran, all are zero or not a number.
void RangeReadings::put(RangeReading reading) {
  const auto has_counted = [](double value) { return value > 0; };
  if (std::none_of(reading.values.begin(), reading.values.end(), has_counted)) return;
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(reading));
}

void RangeReadings::drain(int64_t session_start_ns, DeviceNumbers& devices, RowSink& sink) {
  std::vector<RangeReading> readings;
  {
    const std::lock_guard lock(mutex_);
    readings.swap(waiting_);
  }
  format::Batch rows(format::Kind::RangeMetric);
  for (const RangeReading& reading : readings) {
    const bool is_new = !reading.beside.empty() && told_.size() < kMostTold &&
                        told_.emplace(reading.scope, reading.beside).second;
    if (is_new) tell_beside(reading, session_start_ns, sink);
    const int64_t device = devices.of(reading.device);
    const int64_t scope = sink.scope_at(reading.thread, reading.inside_ns - session_start_ns).scope;
    const int64_t range = sink.intern(format::Dict::Name, reading.scope);
    for (size_t i = 0; i < reading.values.size(); ++i) {
      const auto value = base::to_decimal(reading.values[i]);
      if (!value) continue;
      rows.push_row({reading.begin_ns - session_start_ns, reading.end_ns - reading.begin_ns, device,
                     int64_t{reading.context}, range,
                     sink.intern(format::Dict::Metric, reading.metrics[i]), value->digits,
                     value->exponent, 0, int64_t{reading.pass}, scope});
    }
  }
  if (!rows.empty()) sink.submit(rows);
}

}  // namespace gpufl::backend
