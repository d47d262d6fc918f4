// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/nvml/nvml_api.hpp"

// The processes that use a GPU, with their memory. NVML gives process ids of its own namespace:
// inside a container the name may be missing. One thread.
namespace gpufl::backend {

class GpuProcesses {
 public:
  // Appends. NVML_SUCCESS, or the code that says that the device is lost.
  nvmlReturn_t read(const NvmlApi& api, nvmlDevice_t handle, int64_t device,
                    std::vector<ProcessUse>& out);

 private:
  using ListFunction = decltype(NvmlApi::nvmlDeviceGetComputeRunningProcesses_v3);
  nvmlReturn_t append(ListFunction list, nvmlDevice_t handle, int64_t device, size_t first,
                      std::vector<ProcessUse>& out);

  std::vector<nvmlProcessInfo_t> buffer_ = std::vector<nvmlProcessInfo_t>(32);
};

// The program's file name without its folders, else the kernel's short name; empty: unknown.
std::string process_name(int64_t pid);

}  // namespace gpufl::backend
