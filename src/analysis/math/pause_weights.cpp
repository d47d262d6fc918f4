// SPDX-License-Identifier: Apache-2.0
#include "analysis/math/pause_weights.hpp"

#include <algorithm>
#include <cstdint>

namespace gpufl::analysis {
namespace {

// How much of `whole` lies before a point in time; the points come in order.
class TimeBefore {
 public:
  explicit TimeBefore(const Intervals& whole) : next_(whole.begin()), end_(whole.end()) {}

  double operator()(int64_t time_ns) {
    while (next_ != end_ && next_->end <= time_ns) {
      passed_ += static_cast<double>(next_->length());
      ++next_;
    }
    if (next_ == end_ || next_->start >= time_ns) return passed_;
    return passed_ + static_cast<double>(time_ns - next_->start);
  }

 private:
  Intervals::const_iterator next_, end_;
  double passed_ = 0;
};

}  // namespace

std::vector<ByPauseRule> time_stood_for(const Intervals& parts, const Intervals& whole) {
  std::vector<ByPauseRule> times(parts.size(), ByPauseRule{});
  TimeBefore time_before(whole);
  double last_end = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double start = time_before(parts[i].start), end = time_before(parts[i].end);
    const double pause = std::max(0.0, start - last_end);
    const ByPauseRule of_next = i == 0 ? ByPauseRule{1, 1, 1} : ByPauseRule{0, 0.5, 1};
    for (size_t rule = 0; rule < kPauseRules; ++rule) {
      times[i][rule] += (end - start) + of_next[rule] * pause;
      if (i > 0) times[i - 1][rule] += (1 - of_next[rule]) * pause;
    }
    last_end = end;
  }
  if (!parts.empty()) {
    const double rest = static_cast<double>(total_length(whole)) - last_end;
    for (double& time : times.back()) time += rest;
  }
  return times;
}

}  // namespace gpufl::analysis
