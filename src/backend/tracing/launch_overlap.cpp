// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/launch_overlap.hpp"

#include <algorithm>

namespace gpufl::backend {
namespace {

// A thread that launches less often in a round loses little by waiting for others.
constexpr uint32_t kBusyThread = 50;

}  // namespace

void LaunchOverlap::add(uint32_t thread, int64_t time_ns) {
  const auto [found, is_new] = threads_.try_emplace(thread);
  Launches& launches = found->second;
  launches.first_ns = is_new ? time_ns : std::min(launches.first_ns, time_ns);
  launches.last_ns = is_new ? time_ns : std::max(launches.last_ns, time_ns);
  ++launches.count;
}

void LaunchOverlap::end_round() {
  for (auto one = threads_.begin(); one != threads_.end() && !is_seen_; ++one) {
    for (auto other = std::next(one); other != threads_.end(); ++other) {
      const Launches& a = one->second;
      const Launches& b = other->second;
      if (std::min(a.count, b.count) < kBusyThread) continue;
      const int64_t together_ns = std::min(a.last_ns, b.last_ns) - std::max(a.first_ns, b.first_ns);
      const int64_t shorter_ns = std::min(a.last_ns - a.first_ns, b.last_ns - b.first_ns);
      is_seen_ |= together_ns > 0 && together_ns * 2 >= shorter_ns;
    }
  }
  threads_.clear();
}

}  // namespace gpufl::backend
