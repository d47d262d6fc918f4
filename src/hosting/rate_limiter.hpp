// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

// How often something may be done under a name: a bucket of tokens for each, which fills again at a
// steady pace. Names come from clients, so there is a bound on them; of more, those that were
// longest not asked for are forgotten. Any thread.
namespace gpufl::hosting {

struct Rate {
  double per_second;
  double most;  // at once
};

class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RateLimiter(const Rate& rate, size_t names = 10'000) : rate_(rate), names_(names) {}

  // Takes one. 0: go ahead; else how many seconds to wait.
  int take(std::string_view name, Clock::time_point now = Clock::now());

 private:
  struct Bucket {
    std::string name;
    double tokens = 0;
    Clock::time_point at;
  };
  using Buckets = std::list<Bucket>;

  const Rate rate_;
  const size_t names_;
  std::mutex mutex_;
  Buckets buckets_;  // what was asked for last comes first
  std::map<std::string_view, Buckets::iterator> by_name_;
};

}  // namespace gpufl::hosting
