// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/repeat.hpp"

#include <algorithm>

namespace gpufl::analysis::compare {
namespace {

constexpr std::array<std::string_view, kMetrics> kMetricNames{"median", "mean",  "p90",  "p99",
                                                              "total",  "count", "busy", "time"};

}  // namespace

std::string_view to_string(Subject subject) {
  switch (subject) {
    case Subject::Total: return "total";
    case Subject::Scope: return "scope";
    case Subject::Kernel:
    case Subject::Config:
    case Subject::Launch:
    case Subject::Moved: break;
  }
  return "kernel";
}

std::string_view to_string(Metric metric) { return kMetricNames[static_cast<size_t>(metric)]; }

std::string total_text(Metric metric) {
  switch (metric) {
    case Metric::Time: return "session time";
    case Metric::Busy: return "GPU busy time";
    case Metric::Total: return "kernel time";
    case Metric::Count: return "kernels";
    default: return "iteration " + std::string(to_string(metric));
  }
}

std::optional<Metric> metric_named(std::string_view name) {
  const auto found = std::find(kMetricNames.begin(), kMetricNames.end(), name);
  if (found == kMetricNames.end()) return std::nullopt;
  return static_cast<Metric>(found - kMetricNames.begin());
}

std::string_view without_shared(std::string_view config) {
  constexpr std::string_view kUnit = " B shared";
  return config.ends_with(kUnit) ? config.substr(0, config.rfind(',')) : config;
}

const Item* Repeat::find(const Key& key) const {
  const auto found = items.find(key);
  return found == items.end() ? nullptr : &found->second;
}

}  // namespace gpufl::analysis::compare
