// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/nvml/nvml_api.hpp"

// The devices of the machine as NVML shows them: its GPUs in NVML's own order, then the MIG
// instances of each. Asked once, when a health source is made.
namespace gpufl::backend {

struct NvmlDevice {
  nvmlDevice_t handle = nullptr;
  DeviceFacts facts;
  unsigned nvml_index = 0;           // of the GPU; of the instance within its GPU
  nvmlReturn_t lost = NVML_SUCCESS;  // the code, for a GPU that is lost from the beginning
  bool has_instances = false;        // MIG mode is on: the instances have the processes
  bool is_shared = false;            // an instance that has a part of its GPU instance
  unsigned fan_count = 0;
  std::optional<std::pair<int, int>> compute_capability;
  std::vector<unsigned> links;  // NVLinks that the device has, up or down
};

// GPUs that this process may not see are left out.
std::vector<NvmlDevice> find_devices(const NvmlLibrary& nvml, int64_t first_number);

// The GPU is gone until somebody resets it or the machine.
inline bool is_lost(nvmlReturn_t code) {
  return code == NVML_ERROR_GPU_IS_LOST || code == NVML_ERROR_RESET_REQUIRED;
}

}  // namespace gpufl::backend
