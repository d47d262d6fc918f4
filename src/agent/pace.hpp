// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>

// How fast to send, and how long to wait when it does not work. One thread.
namespace gpufl::agent {

// Waits that double, each with a random part, so that many senders do not come back at once.
class Backoff {
 public:
  static constexpr std::chrono::milliseconds kFirst{1000};
  static constexpr std::chrono::milliseconds kLongest{60000};

  static uint64_t random_seed();
  explicit Backoff(uint64_t seed, std::chrono::milliseconds first = kFirst)
      : random_(seed), first_(first) {}

  // The next one. What the server asked for is the least, and up to a half of it is added.
  std::chrono::milliseconds next(std::optional<std::chrono::seconds> asked);
  void succeed() { failures_ = 0; }

 private:
  std::mt19937_64 random_;
  std::chrono::milliseconds first_;
  int failures_ = 0;
};

// At most so many bytes a second, in bursts of a second.
class Throttle {
 public:
  using Clock = std::chrono::steady_clock;

  // 0: as fast as it goes.
  explicit Throttle(uint64_t bytes_per_s) : bytes_per_s_(bytes_per_s) {}

  // How long to wait before these bytes may go.
  std::chrono::nanoseconds take(uint64_t bytes, Clock::time_point now);

 private:
  const uint64_t bytes_per_s_;
  std::optional<Clock::time_point> next_;  // when the next byte may go
};

// False: it was stopped.
bool sleep_for(std::chrono::nanoseconds time, const std::function<bool()>& is_stopped);

}  // namespace gpufl::agent
