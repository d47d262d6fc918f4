// SPDX-License-Identifier: Apache-2.0
#include "capture/deep_trigger.hpp"

#include <algorithm>

#include "backend/metric_table.hpp"

namespace gpufl::capture {

namespace {

constexpr int64_t kLongestReading_ns = 2'000'000'000;  // how old one may be

}  // namespace

std::string_view to_string(DeepMetric metric) {
  switch (metric) {
    case DeepMetric::KernelLaunchRate: return "kernel_launch_rate";
    case DeepMetric::GpuUtilization: return "gpu_utilization";
  }
  return "unknown";
}

bool DeepCondition::holds(double value) const {
  switch (order) {
    case Order::Less: return value < limit;
    case Order::LessOrEqual: return value <= limit;
    case Order::Greater: return value > limit;
    case Order::GreaterOrEqual: return value >= limit;
  }
  return false;
}

std::optional<double> RateOfCount::add(int64_t now_ns, uint64_t count) {
  if (!seen_.empty() && count < seen_.back().second) seen_.clear();
  seen_.emplace_back(now_ns, count);
  while (seen_.size() > 1 && now_ns - seen_[1].first >= kSpan_ns) seen_.pop_front();
  const int64_t span_ns = now_ns - seen_.front().first;
  if (span_ns < kSpan_ns) return std::nullopt;
  return static_cast<double>(count - seen_.front().second) * 1e9 / static_cast<double>(span_ns);
}

std::optional<double> gpu_utilization(const MetricBoard& board, int64_t now_ns) {
  if (now_ns - board.time_ns > kLongestReading_ns) return std::nullopt;
  std::optional<double> busiest;
  for (const backend::MetricValue& value : board.device_values) {
    if (value.metric != backend::metric::kGpuUtil) continue;
    busiest = std::max(busiest.value_or(0), static_cast<double>(value.value));
  }
  return busiest;
}

bool ConditionWatch::see(int64_t now_ns, std::optional<double> value) {
  if (!value || !condition_.holds(*value)) {
    holds_since_ns_.reset();
    return false;
  }
  if (!holds_since_ns_) holds_since_ns_ = now_ns;
  return now_ns - *holds_since_ns_ >= condition_.for_ns;
}

}  // namespace gpufl::capture
