// SPDX-License-Identifier: Apache-2.0
#include "backend/metric_catalog.hpp"

#include <utility>

namespace gpufl::backend {

namespace {

bool add_to_one_pass(std::vector<CountedTogether>& groups, const std::string& metric,
                     const CountPasses& passes) {
  for (CountedTogether& group : groups) {
    std::vector<std::string> together = group.metrics;
    together.push_back(metric);
    if (passes(together).value_or(0) != 1) continue;
    group.metrics = std::move(together);
    return true;
  }
  return false;
}

}  // namespace

MetricGrouping group_metrics(const std::vector<std::string>& wanted, const CountPasses& passes) {
  MetricGrouping grouping;
  std::vector<std::string> in_several;
  for (const std::string& metric : wanted) {
    const std::optional<uint32_t> alone = passes({metric});
    if (!alone) {
      grouping.unknown.push_back(metric);
    } else if (*alone > 1) {
      in_several.push_back(metric);
    } else if (!add_to_one_pass(grouping.groups, metric, passes)) {
      grouping.groups.push_back({{metric}, 1});
    }
  }
  if (in_several.empty()) return grouping;
  if (const std::optional<uint32_t> together = passes(in_several)) {
    grouping.groups.push_back({std::move(in_several), *together});
  } else {
    grouping.unknown.insert(grouping.unknown.end(), in_several.begin(), in_several.end());
  }
  return grouping;
}

}  // namespace gpufl::backend
