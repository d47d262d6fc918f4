// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/globaltimer/globaltimer_clock.hpp"

#include <algorithm>
#include <chrono>

#include "backend/nvidia/cupti/call_watch.hpp"
#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

constexpr int64_t kMillisecondNs = 1'000'000;
// What CUPTI makes of the GPU's times is off a straight line by less than this.
constexpr int64_t kRecordErrorNs = 50;
// Times by kernels that are as good as this are not compared with others.
constexpr int64_t kGoodErrorNs = 1'000;
// When records of kernels have not come by then, they do not come.
constexpr int64_t kRecordPatienceNs = 500 * kMillisecondNs;
constexpr size_t kMaxUnrecorded = 256;
constexpr std::chrono::milliseconds kTurnPatience{100};
constexpr uint32_t kMaxOrdinal = 1024;

// What contexts have of ours outlasts sessions.
struct SharedProbe {
  std::timed_mutex mutex;  // a child of fork() may find it locked for good
  GlobaltimerProbe probe;
};
SharedProbe& shared_probe() {
  static auto* const one = new SharedProbe;
  return *one;
}

}  // namespace

base::Result<int64_t> GlobaltimerClock::measure(int64_t max_age_ns) {
  SharedProbe& shared = shared_probe();
  const std::unique_lock turn(shared.mutex, kTurnPatience);
  if (!turn) return base::Status(base::Code::Unavailable, "another thread reads the timer");
  const auto ordinal = shared.probe.current_device();
  if (!ordinal) return ordinal.status();
  const int64_t device = number_of(*ordinal);
  if (is_younger(device, max_age_ns)) return device;
  const OwnCalls ours;
  const auto reading = shared.probe.read();
  if (!reading) return reading.status();
  const std::lock_guard lock(mutex_);
  Device& known = devices_[device];
  known.tick_ns = std::max(known.tick_ns, reading->tick_ns);
  known.measured_ns = reading->seen_ns;
  known.by_host.add(reading->by_host, known.tick_ns);
  if (known.unrecorded.size() == kMaxUnrecorded) known.unrecorded.pop_front();
  known.unrecorded.push_back(*reading);
  return device;
}

bool GlobaltimerClock::is_younger(int64_t device, int64_t max_age_ns) const {
  const std::lock_guard lock(mutex_);
  const auto known = devices_.find(device);
  return known != devices_.end() && base::monotonic_ns() - known->second.measured_ns < max_age_ns;
}

// Only ever called with a turn of the probe's.
int64_t GlobaltimerClock::number_of(int ordinal) {
  const auto number = static_cast<uint32_t>(ordinal);
  if (number >= kMaxOrdinal) return session_devices_.first + ordinal;
  if (number >= numbers_.size()) {
    const CudaDriver driver;
    DeviceNumbers numbers(driver, session_devices_);
    for (uint32_t i = static_cast<uint32_t>(numbers_.size()); i <= number; ++i) {
      numbers_.push_back(numbers.of(i));
    }
  }
  return numbers_[number];
}

void GlobaltimerClock::on_own_kernel(int64_t device, int64_t called_ns, int64_t begin_ns,
                                     int64_t end_ns) {
  const std::lock_guard lock(mutex_);
  const auto found = devices_.find(device);
  if (found == devices_.end()) return;
  Device& known = found->second;
  // Readings take turns, so a call lies within one; in none where its reading was given up.
  const auto of_call = std::find_if(
      known.unrecorded.begin(), known.unrecorded.end(), [&](const GlobaltimerReading& reading) {
        return reading.called_ns <= called_ns && called_ns <= reading.seen_ns;
      });
  if (of_call == known.unrecorded.end()) return;
  const GlobaltimerReading reading = *of_call;
  known.unrecorded.erase(known.unrecorded.begin(), of_call + 1);
  known.by_kernels.add({reading.first, reading.last, begin_ns - kRecordErrorNs,
                        end_ns + known.tick_ns + kRecordErrorNs},
                       known.tick_ns);
}

bool GlobaltimerClock::awaits_records(int64_t device) const {
  const std::lock_guard lock(mutex_);
  const auto known = devices_.find(device);
  if (known == devices_.end() || known->second.unrecorded.empty()) return false;
  return base::monotonic_ns() - known->second.unrecorded.back().seen_ns < kRecordPatienceNs;
}

std::optional<DeviceInterval> GlobaltimerClock::place(int64_t device, uint64_t first,
                                                      uint64_t last) const {
  const std::lock_guard lock(mutex_);
  const auto found = devices_.find(device);
  if (found == devices_.end()) return std::nullopt;
  const Device& known = found->second;
  const auto placed_by = [&](const GlobaltimerFit& fit) -> std::optional<DeviceInterval> {
    const auto begin = fit.place(first), end = fit.place(last);
    if (!begin || !end) return std::nullopt;
    return DeviceInterval{begin->time_ns, end->time_ns, std::max(begin->error_ns, end->error_ns),
                          known.tick_ns};
  };
  const auto by_kernels = placed_by(known.by_kernels);
  if (by_kernels && by_kernels->error_ns <= kGoodErrorNs) return by_kernels;
  // The tracer has not run of late: what it told says less than what the host has seen since.
  const auto by_host = placed_by(known.by_host);
  return by_kernels && (!by_host || by_kernels->error_ns <= by_host->error_ns) ? by_kernels
                                                                               : by_host;
}

std::optional<uint64_t> GlobaltimerClock::stamp_at(int64_t device, int64_t monotonic_ns) const {
  const std::lock_guard lock(mutex_);
  const auto known = devices_.find(device);
  return known != devices_.end() ? known->second.by_host.stamp_at(monotonic_ns) : std::nullopt;
}

}  // namespace gpufl::backend
