// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvml/nvml_device.hpp"

#include <climits>
#include <string>

namespace gpufl::backend {
namespace {

// An unsigned answer, unless the call failed or the value is NVML's "not available".
template <typename... Parameters, typename... Arguments>
std::optional<int64_t> ask(nvmlReturn_t (*function)(Parameters...), Arguments... arguments) {
  unsigned value = 0;
  if (call(function, arguments..., &value) != NVML_SUCCESS || value == UINT_MAX) {
    return std::nullopt;
  }
  return int64_t{value};
}

// NVML tells cores, not SMs. An architecture that is not here yet has no SM count.
std::optional<int64_t> cores_per_sm(int major, int minor) {
  switch (major) {
    case 7: return 64;
    case 8: return minor == 0 ? 64 : 128;
    case 9:
    case 10:
    case 11:
    case 12: return 128;
    default: return std::nullopt;
  }
}

std::string device_name(const NvmlApi& api, nvmlDevice_t handle) {
  char text[NVML_DEVICE_NAME_V2_BUFFER_SIZE] = "";
  return api.nvmlDeviceGetName(handle, text, sizeof text) == NVML_SUCCESS ? text : "";
}

std::string device_uuid(const NvmlApi& api, nvmlDevice_t handle) {
  char text[NVML_DEVICE_UUID_V2_BUFFER_SIZE] = "";
  return api.nvmlDeviceGetUUID(handle, text, sizeof text) == NVML_SUCCESS ? text : "";
}

// Names of before there were names for all vendors (format/former_names.hpp).
void add_former_names(NvmlDevice& device) {
  DeviceFacts& facts = device.facts;
  const auto add = [&](std::string_view name, const std::optional<int64_t>& number) {
    if (number) facts.own.emplace_back(name, *number);
  };
  add("sm_count", facts.compute_units);
  add("max_sm_clock_mhz", facts.max_compute_clock_mhz);
  add("nvlink_count", facts.link_count);
  if (!device.compute_capability) return;
  add("compute_major", device.compute_capability->first);
  add("compute_minor", device.compute_capability->second);
}

void read_gpu_facts(const NvmlApi& api, NvmlDevice& device) {
  DeviceFacts& facts = device.facts;
  const nvmlDevice_t handle = device.handle;
  nvmlPciInfo_t pci{};
  if (call(api.nvmlDeviceGetPciInfo_v3, handle, &pci) == NVML_SUCCESS) facts.pci_bus = pci.busId;
  nvmlMemory_t memory{};
  if (api.nvmlDeviceGetMemoryInfo(handle, &memory) == NVML_SUCCESS) {
    facts.memory_bytes = static_cast<int64_t>(memory.total);
  }
  int major = 0, minor = 0;
  if (call(api.nvmlDeviceGetCudaComputeCapability, handle, &major, &minor) == NVML_SUCCESS) {
    facts.architecture = "sm_" + std::to_string(major) + std::to_string(minor);
    device.compute_capability = {major, minor};
    const auto cores = ask(api.nvmlDeviceGetNumGpuCores, handle);
    const auto per_sm = cores_per_sm(major, minor);
    if (cores && per_sm) facts.compute_units = *cores / *per_sm;
  }
  facts.power_limit_mw = ask(api.nvmlDeviceGetEnforcedPowerLimit, handle);
  facts.max_compute_clock_mhz = ask(api.nvmlDeviceGetMaxClockInfo, handle, NVML_CLOCK_SM);
  facts.max_memory_clock_mhz = ask(api.nvmlDeviceGetMaxClockInfo, handle, NVML_CLOCK_MEM);
  facts.memory_bus_bits = ask(api.nvmlDeviceGetMemoryBusWidth, handle);
  facts.pcie_generation_max = ask(api.nvmlDeviceGetMaxPcieLinkGeneration, handle);
  facts.pcie_width_max = ask(api.nvmlDeviceGetMaxPcieLinkWidth, handle);
  facts.slowdown_temperature_c =
      ask(api.nvmlDeviceGetTemperatureThreshold, handle, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN);
  facts.shutdown_temperature_c =
      ask(api.nvmlDeviceGetTemperatureThreshold, handle, NVML_TEMPERATURE_THRESHOLD_SHUTDOWN);

  device.fan_count = static_cast<unsigned>(ask(api.nvmlDeviceGetNumFans, handle).value_or(0));
  for (unsigned link = 0; link < NVML_NVLINK_MAX_LINKS; ++link) {
    nvmlEnableState_t state{};
    if (call(api.nvmlDeviceGetNvLinkState, handle, link, &state) == NVML_SUCCESS) {
      device.links.push_back(link);
    }
  }
  if (!device.links.empty()) facts.link_count = static_cast<int64_t>(device.links.size());
  add_former_names(device);
}

// The instances of one GPU. Slots of the table of instances may be empty.
void find_instances(const NvmlApi& api, NvmlDevice& gpu, std::vector<NvmlDevice>& instances) {
  unsigned mode = NVML_DEVICE_MIG_DISABLE, pending = 0;
  if (call(api.nvmlDeviceGetMigMode, gpu.handle, &mode, &pending) != NVML_SUCCESS ||
      mode != NVML_DEVICE_MIG_ENABLE) {
    return;
  }
  gpu.has_instances = true;
  const auto slots = ask(api.nvmlDeviceGetMaxMigDeviceCount, gpu.handle).value_or(0);
  for (unsigned slot = 0; slot < static_cast<unsigned>(slots); ++slot) {
    NvmlDevice instance;
    if (call(api.nvmlDeviceGetMigDeviceHandleByIndex, gpu.handle, slot, &instance.handle) !=
        NVML_SUCCESS) {
      continue;
    }
    instance.nvml_index = slot;
    instance.facts.parent = gpu.facts.device;
    instance.facts.name = device_name(api, instance.handle);
    instance.facts.uuid = device_uuid(api, instance.handle);
    instance.facts.pci_bus = gpu.facts.pci_bus;
    instance.facts.architecture = gpu.facts.architecture;
    nvmlDeviceAttributes_t attributes{};
    if (call(api.nvmlDeviceGetAttributes_v2, instance.handle, &attributes) == NVML_SUCCESS) {
      instance.facts.compute_units = attributes.multiprocessorCount;
      instance.facts.memory_bytes = static_cast<int64_t>(attributes.memorySizeMB << 20);
      instance.is_shared = attributes.computeInstanceSliceCount < attributes.gpuInstanceSliceCount;
    }
    instance.compute_capability = gpu.compute_capability;
    add_former_names(instance);
    instances.push_back(std::move(instance));
  }
}

}  // namespace

std::vector<NvmlDevice> find_devices(const NvmlLibrary& nvml, int64_t first_number) {
  const NvmlApi& api = nvml.api();
  unsigned count = 0;
  if (api.nvmlDeviceGetCount_v2(&count) != NVML_SUCCESS) return {};

  std::vector<NvmlDevice> devices, instances;
  for (unsigned index = 0; index < count; ++index) {
    NvmlDevice gpu;
    gpu.nvml_index = index;
    gpu.facts.device = first_number + index;
    const nvmlReturn_t code = api.nvmlDeviceGetHandleByIndex_v2(index, &gpu.handle);
    if (code == NVML_SUCCESS) {
      gpu.facts.name = device_name(api, gpu.handle);
      gpu.facts.uuid = device_uuid(api, gpu.handle);
      read_gpu_facts(api, gpu);
      find_instances(api, gpu, instances);
    } else if (is_lost(code)) {
      gpu.lost = code;
    } else {
      continue;
    }
    devices.push_back(std::move(gpu));
  }
  int64_t number = first_number + count;
  for (NvmlDevice& instance : instances) {
    instance.facts.device = number++;
    devices.push_back(std::move(instance));
  }
  const std::string driver = nvml.driver_version(), runtime = nvml.cuda_version();
  for (NvmlDevice& device : devices) {
    device.facts.vendor = "nvidia";
    device.facts.driver = driver;
    device.facts.runtime = runtime;
  }
  return devices;
}

}  // namespace gpufl::backend
