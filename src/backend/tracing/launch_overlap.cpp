// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/launch_overlap.hpp"

#include <algorithm>

namespace gpufl::backend {
namespace {

// Fewer launches in a slice lose little by waiting for each other.
constexpr size_t kBusySlice = 40;
// Of two threads that launch at the same time every other launch is another thread's; of those that
// take turns few are. One in so many is too many for turns.
constexpr size_t kOneIn = 10;

}  // namespace

void LaunchOverlap::end_round() {
  if (!is_seen_ && launches_.size() >= kBusySlice) {
    std::sort(launches_.begin(), launches_.end());
    size_t changes = 0;
    for (size_t i = 1; i < launches_.size(); ++i) {
      changes += launches_[i].second != launches_[i - 1].second ? 1 : 0;
    }
    is_seen_ = changes * kOneIn >= launches_.size();
  }
  launches_.clear();
}

}  // namespace gpufl::backend
