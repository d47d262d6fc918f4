// SPDX-License-Identifier: Apache-2.0
#include "capture/sampler.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "base/clock.hpp"
#include "capture/host_metrics.hpp"

namespace gpufl::capture {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kIdlePoll{20};
constexpr milliseconds kSlowInterval{1000};
constexpr milliseconds kStopPatience{2000};
constexpr size_t kMaxQueued = 4096;
constexpr size_t kMaxRecentEvents = 64;

}  // namespace

class Sampler::Core {
 public:
  Core(SamplerConfig config, std::shared_ptr<backend::HealthSource> health)
      : config_(std::move(config)),
        health_(std::move(health)),
        interval_(std::max(1, config_.interval_ms)) {}

  bool has_health() const { return health_ != nullptr; }

  void run_fast() {
    HostMetrics host;
    Clock::time_point due = Clock::now();
    while (true) {
      if (!update_active()) {
        if (!wait_while_idle()) return;
        due = Clock::now();
        continue;
      }
      count_missed(due, interval_, &missed_);
      Sample sample;
      sample.time_ns = session_now();
      if (health_) health_->sample_fast(sample.device_values);
      host.sample(base::monotonic_ns(), sample.host_values);
      taken_.fetch_add(1, std::memory_order_relaxed);
      publish(std::move(sample), false);
      due += interval_;
      if (!wait_until(due)) return;
    }
  }

  void run_slow() {
    const milliseconds period = std::max(kSlowInterval, interval_);
    Clock::time_point due = Clock::now();
    while (true) {
      if (!wait_until_active(due)) return;
      count_missed(due, period, nullptr);
      Sample sample;
      sample.time_ns = session_now();
      health_->sample_slow(sample.device_values, sample.processes, sample.events);
      publish(std::move(sample), true);
      due += period;
      if (!wait_until(due)) return;
    }
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    cv_.notify_all();
  }

  void hold(int change) {
    const std::lock_guard lock(mutex_);
    holds_ += change;
    cv_.notify_all();
  }

  std::vector<Sample> take() {
    const std::lock_guard lock(data_mutex_);
    return std::exchange(queue_, {});
  }

  MetricBoard board() const {
    MetricBoard board;
    const std::lock_guard lock(data_mutex_);
    board.time_ns = newest_ns_;
    board.device_values = fast_.device_values;
    board.device_values.insert(board.device_values.end(), slow_.device_values.begin(),
                               slow_.device_values.end());
    board.host_values = fast_.host_values;
    board.processes = slow_.processes;
    board.recent_events.assign(recent_events_.begin(), recent_events_.end());
    board.event_counts.assign(event_counts_.begin(), event_counts_.end());
    board.samples_taken = taken();
    board.samples_missed = missed();
    return board;
  }

  uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  uint64_t missed() const { return missed_.load(std::memory_order_relaxed); }

 private:
  int64_t session_now() const { return base::monotonic_ns() - config_.session_start_ns; }

  bool update_active() {
    const bool asked = config_.continuous || (config_.wanted && config_.wanted());
    const std::lock_guard lock(mutex_);
    const bool active = asked || holds_ > 0;
    if (active && !active_) cv_.notify_all();
    active_ = active;
    return active;
  }

  // Ticks that have passed while the thread could not run, or while the last reading took longer
  // than the interval, are counted and left out: the next one keeps to the grid.
  static void count_missed(Clock::time_point& due, milliseconds interval,
                           std::atomic<uint64_t>* missed) {
    const auto skipped = (Clock::now() - due) / interval;
    if (skipped <= 0) return;
    due += skipped * interval;
    if (missed != nullptr) missed->fetch_add(static_cast<uint64_t>(skipped));
  }

  // Each returns false when the sampler stops.
  bool wait_while_idle() {
    std::unique_lock lock(mutex_);
    const auto changed = [&] { return stopping_ || holds_ > 0; };
    if (config_.wanted) {
      cv_.wait_for(lock, std::min(kIdlePoll, interval_), changed);
    } else {
      cv_.wait(lock, changed);
    }
    return !stopping_;
  }
  bool wait_until(Clock::time_point due) {
    std::unique_lock lock(mutex_);
    cv_.wait_until(lock, due, [&] { return stopping_; });
    return !stopping_;
  }
  bool wait_until_active(Clock::time_point& due) {
    std::unique_lock lock(mutex_);
    if (active_ || stopping_) return !stopping_;
    cv_.wait(lock, [&] { return active_ || stopping_; });
    due = Clock::now();
    return !stopping_;
  }

  void publish(Sample sample, bool slow) {
    const std::lock_guard lock(data_mutex_);
    newest_ns_ = std::max(newest_ns_, sample.time_ns);
    for (const backend::DeviceEvent& event : sample.events) {
      ++event_counts_[event.name];
      recent_events_.push_back(event);
      if (recent_events_.size() > kMaxRecentEvents) recent_events_.pop_front();
    }
    (slow ? slow_ : fast_) = sample;
    if (queue_.size() < kMaxQueued) {
      queue_.push_back(std::move(sample));
    } else {
      missed_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  const SamplerConfig config_;
  const std::shared_ptr<backend::HealthSource> health_;
  const milliseconds interval_;

  std::mutex mutex_;  // guards the three below
  std::condition_variable cv_;
  bool stopping_ = false;
  bool active_ = false;
  int holds_ = 0;

  std::atomic<uint64_t> taken_{0};
  std::atomic<uint64_t> missed_{0};

  mutable std::mutex data_mutex_;  // guards what follows
  std::vector<Sample> queue_;
  Sample fast_, slow_;
  int64_t newest_ns_ = 0;
  std::deque<backend::DeviceEvent> recent_events_;
  std::map<std::string, uint64_t> event_counts_;
};

Sampler::Sampler(SamplerConfig config, std::shared_ptr<backend::HealthSource> health)
    : core_(std::make_shared<Core>(std::move(config), std::move(health))) {}

Sampler::~Sampler() { stop(); }

bool Sampler::start() {
  if (fast_thread_.is_running()) return true;
  if (!fast_thread_.start("gpufl-sample", [core = core_] { core->run_fast(); })) return false;
  return !core_->has_health() ||
         slow_thread_.start("gpufl-sample-sl", [core = core_] { core->run_slow(); });
}

bool Sampler::stop() {
  core_->stop();
  const bool fast_ended = fast_thread_.join_for(kStopPatience);
  const bool slow_ended = slow_thread_.join_for(kStopPatience);
  return fast_ended && slow_ended;
}

void Sampler::hold() { core_->hold(1); }
void Sampler::let_go() { core_->hold(-1); }
std::vector<Sample> Sampler::take() { return core_->take(); }
MetricBoard Sampler::board() const { return core_->board(); }
uint64_t Sampler::samples_taken() const { return core_->taken(); }
uint64_t Sampler::samples_missed() const { return core_->missed(); }

}  // namespace gpufl::capture
