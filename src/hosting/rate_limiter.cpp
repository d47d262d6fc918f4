// SPDX-License-Identifier: Apache-2.0
#include "hosting/rate_limiter.hpp"

#include <algorithm>
#include <cmath>

namespace gpufl::hosting {

int RateLimiter::take(std::string_view name, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) {
    buckets_.splice(buckets_.begin(), buckets_, found->second);
  } else {
    if (buckets_.size() >= names_) {
      by_name_.erase(buckets_.back().name);
      buckets_.pop_back();
    }
    buckets_.push_front({std::string(name), rate_.most, now});
    by_name_.emplace(buckets_.front().name, buckets_.begin());
  }
  Bucket& bucket = buckets_.front();
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
