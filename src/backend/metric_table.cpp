// SPDX-License-Identifier: Apache-2.0
#include "backend/metric_table.hpp"

#include <algorithm>

namespace gpufl::backend {
namespace {

constexpr MetricSpec kMetrics[] = {
#define GPUFL_METRIC(constant, name, scope, rate, type, unit, index, help) \
  {metric::constant, MetricScope::scope, MetricRate::rate, MetricType::type, unit, index, help},
#include "backend/metric_list.inc"
#undef GPUFL_METRIC
};

}  // namespace

std::span<const MetricSpec> metric_table() { return kMetrics; }

const MetricSpec* find_metric(MetricScope scope, std::string_view name) {
  const auto* found = std::find_if(std::begin(kMetrics), std::end(kMetrics), [&](const auto& m) {
    return m.scope == scope && m.name == name;
  });
  return found == std::end(kMetrics) ? nullptr : found;
}

std::string_view to_string(MetricScope scope) {
  return scope == MetricScope::Device ? "device" : "host";
}
std::string_view to_string(MetricRate rate) { return rate == MetricRate::Fast ? "fast" : "slow"; }
std::string_view to_string(MetricType type) {
  return type == MetricType::Gauge ? "gauge" : "counter";
}

}  // namespace gpufl::backend
