// SPDX-License-Identifier: Apache-2.0
#include "agent/pace.hpp"

#include <sys/random.h>

#include <algorithm>
#include <thread>

namespace gpufl::agent {

using std::chrono::milliseconds;

uint64_t Backoff::random_seed() {
  uint64_t seed = 0;
  (void)::getrandom(&seed, sizeof(seed), 0);
  return seed;
}

milliseconds Backoff::next(std::optional<std::chrono::seconds> asked) {
  constexpr int kMostDoublings = 6;
  const milliseconds longest =
      std::min(std::max(kLongest, first_), first_ * (1 << std::min(failures_, kMostDoublings)));
  ++failures_;
  const auto random_part = [&](milliseconds most) {
    return milliseconds(std::uniform_int_distribution<int64_t>(0, most.count())(random_));
  };
  if (asked) return milliseconds(*asked) + random_part(std::max<milliseconds>(*asked, first_) / 2);
  return longest / 2 + random_part(longest / 2);
}

std::chrono::nanoseconds Throttle::take(uint64_t bytes, Clock::time_point now) {
  if (bytes_per_s_ == 0) return {};
  const std::chrono::duration<double> cost(static_cast<double>(bytes) /
                                           static_cast<double>(bytes_per_s_));
  const Clock::time_point full = now - std::chrono::seconds(1);
  const Clock::time_point from = next_ ? std::max(*next_, full) : full;
  next_ = from + std::chrono::duration_cast<Clock::duration>(cost);
  return std::max<std::chrono::nanoseconds>(*next_ - now, std::chrono::nanoseconds(0));
}

bool sleep_for(std::chrono::nanoseconds time, const std::function<bool()>& is_stopped) {
  constexpr milliseconds kSlice{100};
  const auto until = Throttle::Clock::now() + time;
  while (true) {
    if (is_stopped && is_stopped()) return false;
    const auto left = until - Throttle::Clock::now();
    if (left <= std::chrono::nanoseconds(0)) return true;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, kSlice));
  }
}

}  // namespace gpufl::agent
