// SPDX-License-Identifier: Apache-2.0
#include "backend/metric_catalog.hpp"

#include <utility>

namespace gpufl::backend {

std::vector<std::string> fit_one_pass(const MetricCatalog& catalog, CountedBy by,
                                      const std::vector<std::string>& metrics) {
  std::vector<std::string> fitting;
  for (const std::string& metric : metrics) {
    std::vector<std::string> together = fitting;
    together.push_back(metric);
    if (catalog.passes(by, together).value_or(0) == 1) fitting = std::move(together);
  }
  return fitting;
}

}  // namespace gpufl::backend
