// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvml/gpu_processes.hpp"

#include <algorithm>
#include <climits>
#include <fstream>

#include "backend/nvidia/nvml/nvml_device.hpp"

namespace gpufl::backend {
namespace {

constexpr unsigned kMaxProcesses = 4096;

}  // namespace

// Not /proc/<pid>/comm first: frameworks rename their main thread, and it is cut at 15 characters.
std::string process_name(int64_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::string name;
  std::getline(std::ifstream(folder + "/cmdline"), name, '\0');
  name.erase(0, name.rfind('/') + 1);
  if (name.empty()) std::getline(std::ifstream(folder + "/comm"), name);
  return name;
}

nvmlReturn_t GpuProcesses::read(const NvmlApi& api, nvmlDevice_t handle, int64_t device,
                                std::vector<ProcessUse>& out) {
  const size_t first = out.size();
  for (const ListFunction list : {api.nvmlDeviceGetComputeRunningProcesses_v3,
                                  api.nvmlDeviceGetGraphicsRunningProcesses_v3}) {
    const nvmlReturn_t code = append(list, handle, device, first, out);
    if (is_lost(code)) return code;
  }
  return NVML_SUCCESS;
}

// A process may stand in both lists, with the same memory in each: `first` is where this device's
// rows begin.
nvmlReturn_t GpuProcesses::append(ListFunction list, nvmlDevice_t handle, int64_t device,
                                  size_t first, std::vector<ProcessUse>& out) {
  auto count = static_cast<unsigned>(buffer_.size());
  nvmlReturn_t code = call(list, handle, &count, buffer_.data());
  if (code == NVML_ERROR_INSUFFICIENT_SIZE && count < kMaxProcesses) {
    buffer_.resize(count + 32);  // some more may start meanwhile
    count = static_cast<unsigned>(buffer_.size());
    code = call(list, handle, &count, buffer_.data());
  }
  if (code != NVML_SUCCESS) return code;
  for (unsigned i = 0; i < std::min<size_t>(count, buffer_.size()); ++i) {
    const nvmlProcessInfo_t& info = buffer_[i];
    const bool known = std::any_of(out.begin() + static_cast<ptrdiff_t>(first), out.end(),
                                   [&](const ProcessUse& use) { return use.pid == info.pid; });
    if (known) continue;
    ProcessUse use{device, info.pid, process_name(info.pid), std::nullopt};
    if (info.usedGpuMemory != ULLONG_MAX) {
      use.memory_bytes = static_cast<int64_t>(info.usedGpuMemory);
    }
    out.push_back(std::move(use));
  }
  return NVML_SUCCESS;
}

}  // namespace gpufl::backend
