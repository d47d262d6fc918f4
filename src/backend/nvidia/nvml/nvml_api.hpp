// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nvml.h>

#include <memory>

#include "backend/backend.hpp"
#include "base/dynamic_library.hpp"
#include "base/status.hpp"

// libnvidia-ml.so.1, opened at run time: one typed table of the functions we call. Functions that
// a driver may lack are null there; call() answers for them. NVML itself is safe from any thread.
namespace gpufl::backend {

// Without these there is nothing to talk to.
#define GPUFL_NVML_REQUIRED(X)     \
  X(nvmlInit_v2)                   \
  X(nvmlShutdown)                  \
  X(nvmlErrorString)               \
  X(nvmlSystemGetDriverVersion)    \
  X(nvmlDeviceGetCount_v2)         \
  X(nvmlDeviceGetHandleByIndex_v2) \
  X(nvmlDeviceGetHandleByUUID)     \
  X(nvmlDeviceGetName)             \
  X(nvmlDeviceGetUUID)             \
  X(nvmlDeviceGetMemoryInfo)

// A driver without one of these has one field less.
#define GPUFL_NVML_OPTIONAL(X)                 \
  X(nvmlSystemGetCudaDriverVersion_v2)         \
  X(nvmlDeviceGetPciInfo_v3)                   \
  X(nvmlDeviceGetCudaComputeCapability)        \
  X(nvmlDeviceGetNumGpuCores)                  \
  X(nvmlDeviceGetAttributes_v2)                \
  X(nvmlDeviceGetMaxClockInfo)                 \
  X(nvmlDeviceGetMemoryBusWidth)               \
  X(nvmlDeviceGetMaxPcieLinkGeneration)        \
  X(nvmlDeviceGetMaxPcieLinkWidth)             \
  X(nvmlDeviceGetTemperatureThreshold)         \
  X(nvmlDeviceGetMigMode)                      \
  X(nvmlDeviceGetMaxMigDeviceCount)            \
  X(nvmlDeviceGetMigDeviceHandleByIndex)       \
  X(nvmlDeviceGetUtilizationRates)             \
  X(nvmlDeviceGetMemoryInfo_v2)                \
  X(nvmlDeviceGetTemperature)                  \
  X(nvmlDeviceGetPowerUsage)                   \
  X(nvmlDeviceGetEnforcedPowerLimit)           \
  X(nvmlDeviceGetClockInfo)                    \
  X(nvmlDeviceGetPerformanceState)             \
  X(nvmlDeviceGetCurrentClocksThrottleReasons) \
  X(nvmlDeviceGetFieldValues)                  \
  X(nvmlDeviceGetTotalEnergyConsumption)       \
  X(nvmlDeviceGetPcieThroughput)               \
  X(nvmlDeviceGetCurrPcieLinkGeneration)       \
  X(nvmlDeviceGetCurrPcieLinkWidth)            \
  X(nvmlDeviceGetPcieReplayCounter)            \
  X(nvmlDeviceGetNvLinkState)                  \
  X(nvmlDeviceGetTotalEccErrors)               \
  X(nvmlDeviceGetRemappedRows)                 \
  X(nvmlDeviceGetNumFans)                      \
  X(nvmlDeviceGetFanSpeed_v2)                  \
  X(nvmlDeviceGetEncoderUtilization)           \
  X(nvmlDeviceGetDecoderUtilization)           \
  X(nvmlDeviceGetComputeRunningProcesses_v3)   \
  X(nvmlDeviceGetGraphicsRunningProcesses_v3)  \
  X(nvmlEventSetCreate)                        \
  X(nvmlEventSetFree)                          \
  X(nvmlEventSetWait_v2)                       \
  X(nvmlDeviceRegisterEvents)

#pragma GCC diagnostic push
// Newer headers mark calls that every driver of our floor still needs.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): the names are NVIDIA's.
struct NvmlApi {
#define GPUFL_NVML_MEMBER(name) decltype(::name)* name = nullptr;
  GPUFL_NVML_REQUIRED(GPUFL_NVML_MEMBER)
  GPUFL_NVML_OPTIONAL(GPUFL_NVML_MEMBER)
#undef GPUFL_NVML_MEMBER
  // The new name of ...ThrottleReasons; the header of CUDA 12.0 does not have it.
  decltype(::nvmlDeviceGetCurrentClocksThrottleReasons)* nvmlDeviceGetCurrentClocksEventReasons =
      nullptr;
};
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)
#pragma GCC diagnostic pop

// Calls a function of the table that may not be there.
template <typename... Parameters, typename... Arguments>
nvmlReturn_t call(nvmlReturn_t (*function)(Parameters...), Arguments... arguments) {
  return function != nullptr ? function(arguments...) : NVML_ERROR_FUNCTION_NOT_FOUND;
}

// "NVML_ERROR_NOT_SUPPORTED"; "NVML_ERROR_<number>" for one newer than our header.
std::string nvml_name(nvmlReturn_t code);
// ok, or "text: what NVML says (NVML_ERROR_..., number)".
base::Status nvml_status(const NvmlApi& api, nvmlReturn_t code, const char* text);

// GPUFL_NVML(api, nvmlDeviceGetCount_v2(&count)): the call's Status, with its text, the code's
// name and its number. For functions that are always there.
#define GPUFL_NVML(api, call_text) ::gpufl::backend::nvml_status((api), (api).call_text, #call_text)

// NVML, initialised; shut down by the last owner.
class NvmlLibrary {
 public:
  // GPUFL_NVML_LIBRARY names another file than libnvidia-ml.so.1. Null: `why` says why not.
  static std::shared_ptr<NvmlLibrary> open(Availability& why);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  const NvmlApi& api() const { return api_; }
  std::string path() const { return library_.path(); }
  std::string driver_version() const;
  std::string cuda_version() const;  // "13.0": the newest CUDA that the driver serves; may be empty

 private:
  explicit NvmlLibrary(base::DynamicLibrary library) : library_(std::move(library)) {}

  base::DynamicLibrary library_;
  NvmlApi api_;
  bool initialised_ = false;
};

}  // namespace gpufl::backend
