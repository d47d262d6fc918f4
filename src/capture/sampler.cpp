// SPDX-License-Identifier: Apache-2.0
#include "capture/sampler.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>

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

enum class Part : uint8_t { Host, Fast, Slow };
constexpr size_t kParts = 3;

}  // namespace

class Sampler::Core {
 public:
  Core(SamplerConfig config, std::shared_ptr<backend::HealthSource> health)
      : config_(std::move(config)),
        health_(std::move(health)),
        interval_(std::max(1, config_.interval_ms)) {}

  bool has_health() const { return health_ != nullptr; }

  // The host has a thread of its own, which also decides whether sampling is wanted: a driver that
  // hangs stops neither.
  void run_host() {
    std::optional<HostMetrics> host;
    run(Part::Host, interval_, [&](Sample& sample) {
      if (!host) host.emplace();
      host->sample(base::monotonic_ns(), sample.host_values);
    });
  }

  void run_fast() {
    run(Part::Fast, interval_, [&](Sample& sample) { health_->sample_fast(sample.device_values); });
  }

  void run_slow() {
    run(Part::Slow, std::max(kSlowInterval, interval_), [&](Sample& sample) {
      health_->sample_slow(sample.device_values, sample.processes, sample.events);
    });
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    cv_.notify_all();
    const std::lock_guard data_lock(data_mutex_);
    if (!stopped_at_) stopped_at_ = Clock::now();
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
    const Sample& slow = newest(Part::Slow);
    board.device_values = newest(Part::Fast).device_values;
    board.device_values.insert(board.device_values.end(), slow.device_values.begin(),
                               slow.device_values.end());
    board.host_values = newest(Part::Host).host_values;
    board.processes = slow.processes;
    board.recent_events.assign(recent_events_.begin(), recent_events_.end());
    board.event_counts.assign(event_counts_.begin(), event_counts_.end());
    board.samples_taken = taken_;
    board.samples_missed = missed_ + owed();
    return board;
  }

  uint64_t taken() const {
    const std::lock_guard lock(data_mutex_);
    return taken_;
  }
  uint64_t missed() const {
    const std::lock_guard lock(data_mutex_);
    return missed_ + owed();
  }

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

  // The life of a thread: one reading for every tick of its grid, while sampling is wanted.
  template <typename Read>
  void run(Part part, milliseconds interval, Read read) {
    Clock::time_point due = Clock::now();
    while (part == Part::Host ? poll_until_active(due) : wait_until_active(due)) {
      skip_missed(part, due, interval);
      begin_reading(part, due);
      bool is_taken = false;
      try {
        Sample sample;
        sample.time_ns = session_now();
        read(sample);
        publish(part, std::move(sample));
        is_taken = true;
      } catch (const std::exception&) {  // out of memory: a tick without its reading
      }
      end_reading(part, is_taken);
      due += interval;
      skip_missed(part, due, interval);
      if (!wait_until(due)) return;
    }
  }

  // Ticks are counted once: those of the GPUs where there are any.
  bool is_counted(Part part) const { return part == (health_ ? Part::Fast : Part::Host); }

  // Ticks that have passed while the thread could not run, or while the last reading took longer
  // than the interval, are counted and left out: the next one keeps to the grid.
  void skip_missed(Part part, Clock::time_point& due, milliseconds interval) {
    const auto skipped = (Clock::now() - due) / interval;
    if (skipped <= 0) return;
    due += skipped * interval;
    if (!is_counted(part)) return;
    const std::lock_guard lock(data_mutex_);
    missed_ += static_cast<uint64_t>(skipped);
  }

  void begin_reading(Part part, Clock::time_point due) {
    if (!is_counted(part)) return;
    const std::lock_guard lock(data_mutex_);
    reading_due_ = due;
  }
  void end_reading(Part part, bool is_taken) {
    if (!is_counted(part)) return;
    const std::lock_guard lock(data_mutex_);
    reading_due_.reset();
    ++(is_taken ? taken_ : missed_);
  }

  // Ticks that have passed under a reading that has not returned. While it may still return, its
  // own tick and the last one may yet be taken. Under data_mutex_.
  uint64_t owed() const {
    if (!reading_due_) return 0;
    const auto passed = (stopped_at_.value_or(Clock::now()) - *reading_due_) / interval_;
    if (passed < 0) return 0;
    return static_cast<uint64_t>(stopped_at_ ? passed + 1 : std::max<int64_t>(0, passed - 1));
  }

  // Each returns false when the sampler stops.
  bool poll_until_active(Clock::time_point& due) {
    while (!update_active()) {
      if (!wait_while_idle()) return false;
      due = Clock::now();
    }
    return true;
  }
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

  const Sample& newest(Part part) const { return newest_[static_cast<size_t>(part)]; }

  void publish(Part part, Sample sample) {
    const std::lock_guard lock(data_mutex_);
    newest_ns_ = std::max(newest_ns_, sample.time_ns);
    for (const backend::DeviceEvent& event : sample.events) {
      ++event_counts_[event.name];
      recent_events_.push_back(event);
      if (recent_events_.size() > kMaxRecentEvents) recent_events_.pop_front();
    }
    newest_[static_cast<size_t>(part)] = sample;
    if (queue_.size() < kMaxQueued) {
      queue_.push_back(std::move(sample));
    } else {
      ++missed_;
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

  mutable std::mutex data_mutex_;  // guards what follows
  uint64_t taken_ = 0;
  uint64_t missed_ = 0;
  std::optional<Clock::time_point> reading_due_;  // the tick of the reading under way
  std::optional<Clock::time_point> stopped_at_;
  std::vector<Sample> queue_;
  Sample newest_[kParts];
  int64_t newest_ns_ = 0;
  std::deque<backend::DeviceEvent> recent_events_;
  std::map<std::string, uint64_t> event_counts_;
};

Sampler::Sampler(SamplerConfig config, std::shared_ptr<backend::HealthSource> health)
    : core_(std::make_shared<Core>(std::move(config), std::move(health))) {}

Sampler::~Sampler() { stop(); }

bool Sampler::start() {
  if (host_thread_.is_running()) return true;
  // `wanted` is asked by the first: the others wait for its word.
  return host_thread_.start("gpufl-host", [core = core_] { core->run_host(); }) &&
         (!core_->has_health() || (fast_thread_.start("gpufl-sample", [core = core_] {
           core->run_fast();
         }) && slow_thread_.start("gpufl-sample-sl", [core = core_] { core->run_slow(); })));
}

bool Sampler::stop() {
  core_->stop();
  for (ServiceThread* thread : {&host_thread_, &fast_thread_, &slow_thread_}) {
    if (!thread->join_for(kStopPatience)) ++stuck_;
  }
  return stuck_ == 0;
}

void Sampler::hold() { core_->hold(1); }
void Sampler::let_go() { core_->hold(-1); }
std::vector<Sample> Sampler::take() { return core_->take(); }
MetricBoard Sampler::board() const { return core_->board(); }
uint64_t Sampler::samples_taken() const { return core_->taken(); }
uint64_t Sampler::samples_missed() const { return core_->missed(); }

}  // namespace gpufl::capture
