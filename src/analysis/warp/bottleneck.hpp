// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/warp/critical_path.hpp"
#include "analysis/warp/group_time.hpp"

// What limits a profiled launch, as far as its records can tell: one group, or several of which
// none is slower than the others by more than the error. Time in which no event is open makes no
// group the limit: what happens there is not known.
namespace gpufl::analysis {

struct WarpBottleneck {
  // Several: they cannot be told apart. None: no event is open on most of the critical path, and
  // `share` is that of it.
  std::vector<uint32_t> groups;
  double share =
      0;  // of the critical path, in their events; of groups that flows do not join, busy
  bool is_by_path = false;  // of several groups that flows join; else they are the busiest
  uint32_t event = 0;       // most of that: an event, or PathPart::kBetween
  double event_share = 0;   // as `share`
  // The most that making one of them faster saves of the critical path, however fast: then others
  // are the limit. None: nothing tells, for there is only one group, or flows do not join them.
  std::optional<double> gain;
  double error = 0;  // of shares of a group: what is within it is alike

  bool is_one() const { return groups.size() == 1; }
};

// None: nothing was recorded.
std::optional<WarpBottleneck> find_bottleneck(const WarpCapture& capture, const GroupTimes& times,
                                              const CriticalPath& path);

}  // namespace gpufl::analysis
