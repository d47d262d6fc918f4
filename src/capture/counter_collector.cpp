// SPDX-License-Identifier: Apache-2.0
#include "capture/counter_collector.hpp"

#include "capture/counters.hpp"

namespace gpufl::capture {

CounterCollector::CounterCollector(format::LogWriter& log)
    : log_(log), overflowed_before_(counters::overflowed()), seen_(counters::end()) {
  for (uint32_t id = base::Interner::kOverflowId; id < seen_.size(); ++id) {
    seen_[id].value = counters::value(id);
  }
}

void CounterCollector::sample(int64_t now_ns) {
  counters::gather();
  const uint32_t end = counters::end();
  if (seen_.size() < end) seen_.resize(end);  // a counter made since began at zero
  for (uint32_t id = base::Interner::kOverflowId; id < end; ++id) {
    Seen& seen = seen_[id];
    const int64_t value = counters::value(id);
    if (value == seen.value) continue;
    if (!seen.in_log) {
      seen.in_log = true;
      seen.log_id = log_.intern(format::Dict::Name, counters::name(id));
      rows_.push_row({last_sample_ns_, seen.log_id, seen.value});
    }
    rows_.push_row({now_ns, seen.log_id, value});
    seen.value = value;
  }
  last_sample_ns_ = now_ns;
  if (rows_.empty()) return;
  log_.write(rows_);
  rows_.clear();
}

uint64_t CounterCollector::overflowed() const {
  return counters::overflowed() - overflowed_before_;
}

}  // namespace gpufl::capture
