// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "machine.hpp"

// NVML's entry points over a standin::Machine. Values are functions of the GPU's number only.

using standin::Machine;

namespace {

std::mutex owners_mutex;
unsigned owners = 0;                     // nvmlInit_v2 without their nvmlShutdown
std::atomic<Machine*> current{nullptr};  // stays after the last shutdown, for gpufl_standin_calls
constexpr unsigned long long kMiB = 1ull << 20, kGiB = 1ull << 30;

nvmlReturn_t begin(const char* function, nvmlDevice_t device) {
  Machine* machine = current.load();
  return machine == nullptr ? NVML_ERROR_UNINITIALIZED : machine->begin(function, device);
}

// Answers of a MIG instance: those that the real one gives are fewer.
bool is_instance(nvmlDevice_t device) { return device->instance >= 0; }

template <typename T>
nvmlReturn_t answer(const char* function, T* out, T value) {
  *out = current.load()->is_unavailable(function) ? static_cast<T>(-1) : value;
  return NVML_SUCCESS;
}

nvmlReturn_t answer_text(char* out, unsigned size, const std::string& text) {
  if (text.size() >= size) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

std::string uuid(const nvmlDevice_st& device) {
  char text[64];
  std::snprintf(text, sizeof text, "%s-00000000-0000-0000-%04x-%012x",
                device.instance < 0 ? "GPU" : "MIG", static_cast<unsigned>(device.instance + 1),
                device.gpu);
  return text;
}

#ifndef GPUFL_STANDIN_OLD_DRIVER
nvmlReturn_t list_processes(nvmlDevice_t device, unsigned* count, nvmlProcessInfo_t* infos) {
  const unsigned have = current.load()->processes;
  const unsigned room = *count;
  *count = have;
  if (room < have) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < have; ++i) {
    infos[i] = {};
    infos[i].pid = i == 0 ? static_cast<unsigned>(getpid()) : 4'000'000 + i;
    infos[i].usedGpuMemory = i == 1 ? ULLONG_MAX : (device->gpu + 1) * kGiB;
    infos[i].gpuInstanceId = infos[i].computeInstanceId = 0xFFFFFFFF;
  }
  return NVML_SUCCESS;
}
#endif

}  // namespace

#define BEGIN(device)                                                                  \
  if (const nvmlReturn_t refused = begin(__func__, device); refused != NVML_SUCCESS) { \
    return refused;                                                                    \
  }
#define BEGIN_GPU(device) \
  BEGIN(device)           \
  if (is_instance(device)) return NVML_ERROR_NOT_SUPPORTED;

#pragma GCC visibility push(default)
extern "C" {

unsigned long long gpufl_standin_calls(const char* function) {
  Machine* machine = current.load();
  return machine == nullptr ? 0 : machine->calls(function);
}
unsigned gpufl_standin_owners() {
  const std::lock_guard lock(owners_mutex);
  return owners;
}

nvmlReturn_t nvmlInit_v2() {
  const std::lock_guard lock(owners_mutex);
  if (owners == 0) {
    const char* description = std::getenv("GPUFL_NVML_STANDIN");
    delete current.exchange(new Machine(description != nullptr ? description : ""));
  }
  const nvmlReturn_t code = current.load()->init;
  if (code == NVML_SUCCESS) ++owners;
  return code;
}
nvmlReturn_t nvmlShutdown() {
  const std::lock_guard lock(owners_mutex);
  if (owners == 0) return NVML_ERROR_UNINITIALIZED;
  --owners;
  return NVML_SUCCESS;
}
const char* nvmlErrorString(nvmlReturn_t code) {
  switch (code) {
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NO_PERMISSION: return "Insufficient Permissions";
    case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case NVML_ERROR_GPU_IS_LOST: return "GPU is lost";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH: return "Driver/library version mismatch";
    default: return "Unknown Error";
  }
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) {
  BEGIN(nullptr)
  return answer_text(version, length, "580.00.01");
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  BEGIN(nullptr)
  *version = 13000;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  BEGIN(nullptr)
  *count = current.load()->gpus;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  nvmlDevice_t found = current.load()->find(index, -1);
  if (found == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  BEGIN(found)
  *device = found;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* text, nvmlDevice_t* device) {
  Machine& machine = *current.load();
  for (unsigned gpu = 0; gpu < machine.gpus; ++gpu) {
    for (int instance = -1;; ++instance) {
      nvmlDevice_t found = machine.find(gpu, instance);
      if (found == nullptr) break;
      if (uuid(*found) != text) continue;
      BEGIN(found)
      *device = found;
      return NVML_SUCCESS;
    }
  }
  return NVML_ERROR_NOT_FOUND;
}
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned length) {
  BEGIN(device)
  return answer_text(name, length,
                     is_instance(device) ? "Stand-in GPU MIG 1g.10gb" : "Stand-in GPU");
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* text, unsigned length) {
  BEGIN(device)
  return answer_text(text, length, uuid(*device));
}
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) {
  BEGIN_GPU(device)
  std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", 0x10 + device->gpu);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  BEGIN(device)
  *major = 9;
  *minor = 0;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned* count) {
  BEGIN_GPU(device)
  return answer(__func__, count, 132u * 128u);
}
nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes) {
  BEGIN(device)
  if (!is_instance(device)) return NVML_ERROR_NOT_SUPPORTED;
  *attributes = {};
  attributes->multiprocessorCount = 16;
  attributes->memorySizeMB = 10 * 1024;
  attributes->gpuInstanceSliceCount = current.load()->mig_slices;
  attributes->computeInstanceSliceCount = 1;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* mhz) {
  BEGIN_GPU(device)
  return answer(__func__, mhz, type == NVML_CLOCK_MEM ? 2619u : 1980u);
}
nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned* bits) {
  BEGIN_GPU(device)
  return answer(__func__, bits, 5120u);
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, 5u);
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, 16u);
}
nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device,
                                               nvmlTemperatureThresholds_t type, unsigned* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, type == NVML_TEMPERATURE_THRESHOLD_SHUTDOWN ? 92u : 87u);
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned* mode, unsigned* pending) {
  BEGIN_GPU(device)
  *mode = *pending = current.load()->mig.count(device->gpu) != 0 ? 1 : 0;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned* count) {
  BEGIN_GPU(device)
  return answer(__func__, count, 7u);
}
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned index,
                                                 nvmlDevice_t* instance) {
  BEGIN_GPU(device)
  *instance = current.load()->find(device->gpu, static_cast<int>(index));
  return *instance != nullptr ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
  BEGIN_GPU(device)
  if (current.load()->mig.count(device->gpu) != 0) return NVML_ERROR_NOT_SUPPORTED;
  rates->gpu = 10 + device->gpu;
  rates->memory = 5 + device->gpu;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  BEGIN(device)
  const unsigned long long used = (device->gpu + 1) * kGiB + 512 * kMiB;
  *memory = {80 * kGiB, 80 * kGiB - used, used};
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t,
                                      unsigned* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, 40 + device->gpu);
}
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, 100'000 + 1'000 * device->gpu);
}
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, 700'000u);
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* mhz) {
  BEGIN_GPU(device)
  constexpr unsigned kClocks[] = {1965, 1980, 2619, 1545};  // graphics, SM, memory, video
  return answer(__func__, mhz, kClocks[type]);
}
nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t* state) {
  BEGIN_GPU(device)
  *state = current.load()->is_unavailable(__func__) ? NVML_PSTATE_UNKNOWN : NVML_PSTATE_2;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device,
                                                       unsigned long long* bits) {
  BEGIN_GPU(device)
  *bits = nvmlClocksThrottleReasonSwPowerCap;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  BEGIN_GPU(device)
  Machine& machine = *current.load();
  for (int i = 0; i < count; ++i) {
    nvmlFieldValue_t& field = values[i];
    const std::string number = std::to_string(field.fieldId);
    field.nvmlReturn = machine.begin(number, device);
    field.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    switch (field.fieldId) {
      case NVML_FI_DEV_MEMORY_TEMP: field.value.uiVal = 50 + device->gpu; break;
      case 186: field.value.uiVal = 100'500 + 1'000 * device->gpu; break;
      case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX:
      case NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX:
        field.valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
        field.value.ullVal = 100ull * (field.scopeId + 1);
        break;
      case NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY:
      case NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY:
      case NVML_FI_DEV_NVLINK_ERROR_DL_CRC: field.value.uiVal = field.scopeId; break;
      default: field.nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    }
    if (machine.is_unavailable(number)) field.value.ullVal = ULLONG_MAX;
  }
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, 1'000 * ++current.load()->energy_reads);
}
nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
                                         unsigned* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, counter == NVML_PCIE_UTIL_RX_BYTES ? 2'000u : 3'000u);
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, 4u);
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, 8u);
}
nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, device->gpu);
}
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link,
                                      nvmlEnableState_t* state) {
  BEGIN_GPU(device)
  const unsigned links = current.load()->links;
  if (link >= links) return NVML_ERROR_NOT_SUPPORTED;
  *state = link + 1 == links ? NVML_FEATURE_DISABLED : NVML_FEATURE_ENABLED;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t type,
                                         nvmlEccCounterType_t counter, unsigned long long* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, 1ull + 2 * type + counter);
}
nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned* corrected,
                                       unsigned* uncorrected, unsigned* pending, unsigned* failed) {
  BEGIN_GPU(device)
  *corrected = 2;
  *uncorrected = 1;
  *pending = 1;
  *failed = 0;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned* count) {
  BEGIN_GPU(device)
  return answer(__func__, count, current.load()->fans);
}
nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned fan, unsigned* value) {
  BEGIN_GPU(device)
  return answer(__func__, value, 30 + fan);
}
nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned* value, unsigned* us) {
  BEGIN_GPU(device)
  *us = 167'000;
  return answer(__func__, value, 11u);
}
nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned* value, unsigned* us) {
  BEGIN_GPU(device)
  *us = 167'000;
  return answer(__func__, value, 12u);
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
  BEGIN(nullptr)
  *set = reinterpret_cast<nvmlEventSet_t>(current.load());
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t) {
  BEGIN(nullptr)
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long, nvmlEventSet_t) {
  BEGIN_GPU(device)
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t, nvmlEventData_t* data, unsigned) {
  BEGIN(nullptr)
  return current.load()->next_xid(*data) ? NVML_SUCCESS : NVML_ERROR_TIMEOUT;
}

#ifndef GPUFL_STANDIN_OLD_DRIVER
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* bits) {
  BEGIN_GPU(device)
  *bits = 0x24;  // software power cap, software thermal slowdown
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  BEGIN(device)
  if (memory->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  memory->total = 80 * kGiB;
  memory->reserved = 512 * kMiB;
  memory->used = (device->gpu + 1) * kGiB;
  memory->free = memory->total - memory->used - memory->reserved;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                                     nvmlProcessInfo_t* infos) {
  BEGIN(device)
  return list_processes(device, count, infos);
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned* count,
                                                      nvmlProcessInfo_t* infos) {
  BEGIN(device)
  return list_processes(device, count, infos);
}
#endif

}  // extern "C"
#pragma GCC visibility pop
