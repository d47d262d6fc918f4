// SPDX-License-Identifier: Apache-2.0
#include "hosting/rate_limiter.hpp"

#include <algorithm>
#include <cmath>

namespace gpufl::hosting {

int RateLimiter::take(std::string_view name, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  auto found = buckets_.find(name);
  if (found == buckets_.end()) {
    if (buckets_.size() >= names_) {
      buckets_.erase(std::min_element(buckets_.begin(), buckets_.end(),
                                      [](auto& a, auto& b) { return a.second.at < b.second.at; }));
    }
    found = buckets_.emplace(name, Bucket{rate_.most, now}).first;
  }
  Bucket& bucket = found->second;
  const double passed = std::chrono::duration<double>(now - bucket.at).count();
  bucket.tokens = std::min(rate_.most, bucket.tokens + std::max(passed, 0.0) * rate_.per_second);
  bucket.at = now;
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return 0;
  }
  return std::max(1, static_cast<int>(std::ceil((1 - bucket.tokens) / rate_.per_second)));
}

}  // namespace gpufl::hosting
