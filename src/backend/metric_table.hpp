// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// Every metric that health sources and the host sampler produce, from metric_list.inc: the one
// place of their names. docs/reference/metrics.md lists the same rows (tests compare them) and says
// where each vendor's values come from; exporters take type and help from here. Constant data; any
// thread.
namespace gpufl::backend {

enum class MetricScope : uint8_t { Device, Host };
enum class MetricRate : uint8_t { Fast, Slow };  // every sample, or the slow sampler's own pace
enum class MetricType : uint8_t { Gauge, Counter };

struct MetricSpec {
  std::string_view name;  // ends in the unit
  MetricScope scope;
  MetricRate rate;
  MetricType type;
  std::string_view unit;   // "percent", "bytes", "MHz", ...; empty for plain counts
  std::string_view index;  // what `index` counts: "link", "fan", "core"; empty: always 0
  std::string_view help;
};

std::span<const MetricSpec> metric_table();
const MetricSpec* find_metric(MetricScope scope, std::string_view name);  // nullptr: unknown
std::string_view to_string(MetricScope scope);
std::string_view to_string(MetricRate rate);
std::string_view to_string(MetricType type);

// The names, so that a misspelt one does not compile.
namespace metric {
#define GPUFL_METRIC(constant, name, ...) inline constexpr std::string_view constant = name;
#include "backend/metric_list.inc"
#undef GPUFL_METRIC
}  // namespace metric

}  // namespace gpufl::backend
