// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "backend/nvidia/nvml/nvml_api.hpp"

// Health of the NVIDIA GPUs of the machine, and of their MIG instances, through NVML.
namespace gpufl::backend {

struct NvmlHealthOptions {
  int64_t first_device = 0;  // its number within the session
  // A lost GPU is tried again after this long, then after twice as long each time, up to 32 times.
  int64_t recovery_interval_ns = int64_t{10} * 1'000'000'000;
};

std::unique_ptr<HealthSource> make_nvml_health(std::shared_ptr<NvmlLibrary> nvml,
                                               NvmlHealthOptions options = {});

}  // namespace gpufl::backend
