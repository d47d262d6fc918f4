// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "capture/metric_board.hpp"

// What a session watches to open a deep window by itself: a metric, a limit, and for how long it
// has to hold. Pure: times and values are handed in. One thread.
namespace gpufl::capture {

enum class DeepMetric : uint8_t {
  KernelLaunchRate,  // launches a second, of all GPUs
  GpuUtilization,    // percent, of the busiest GPU
};
// "kernel_launch_rate"
std::string_view to_string(DeepMetric metric);

struct DeepCondition {
  enum class Order : uint8_t { Less, LessOrEqual, Greater, GreaterOrEqual };

  DeepMetric metric = DeepMetric::KernelLaunchRate;
  Order order = Order::Less;
  double limit = 0;
  int64_t for_ns = 0;  // 0: once is enough
  std::string text;    // as people read it

  bool holds(double value) const;
};

// By how much a count grows in a second, over the last second.
class RateOfCount {
 public:
  static constexpr int64_t kSpan_ns = 1'000'000'000;

  // Unknown before the count has been seen for that long. One that falls has begun anew.
  std::optional<double> add(int64_t now_ns, uint64_t count);
  void reset() { seen_.clear(); }

 private:
  std::deque<std::pair<int64_t, uint64_t>> seen_;  // one that is older than the span, at most
};

class ConditionWatch {
 public:
  explicit ConditionWatch(DeepCondition condition) : condition_(std::move(condition)) {}

  // True when the condition has held for long enough. A value that is not known does not hold.
  bool see(int64_t now_ns, std::optional<double> value);
  void reset() { holds_since_ns_.reset(); }
  const DeepCondition& condition() const { return condition_; }

 private:
  const DeepCondition condition_;
  std::optional<int64_t> holds_since_ns_;
};

// Of the busiest GPU, in percent; none: it was not sampled of late.
std::optional<double> gpu_utilization(const MetricBoard& board, int64_t now_ns);

}  // namespace gpufl::capture
