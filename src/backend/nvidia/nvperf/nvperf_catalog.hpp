// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/metric_catalog.hpp"

// NVIDIA's part of metric_catalog.hpp.
namespace gpufl::backend {

base::Result<std::unique_ptr<MetricCatalog>> open_nvperf_catalog(const std::string& chip);
std::vector<CountingEngine> nvidia_counting_engines();

}  // namespace gpufl::backend
