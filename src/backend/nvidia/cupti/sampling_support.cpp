// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/sampling_support.hpp"

#include <cstddef>

#include "backend/nvidia/cupti/pc_sampling_context.hpp"

namespace gpufl::backend {
namespace {

// Of CUpti_Profiler_Support_Level. 0 is "unknown": then it is tried.
constexpr int kUnsupported = 1, kDisabled = 2;
constexpr int kPcSamplingApi = 1;  // CUPTI_PROFILER_PC_SAMPLING
// By number: headers of CUDA 12.0 lack its name.
constexpr auto kMpsEnabled = static_cast<CUdevice_attribute>(133);

// Free memory, beside the hardware's buffer, below which nothing is attached.
constexpr uint64_t kMemoryMargin = uint64_t{64} << 20;

using Support = CuptiDeviceSupport;

// Which part of the answer stands for which of CUPTI's errors; those have reasons and remedies.
struct Cause {
  int Support::* level;
  int refusal;
  CUptiResult error;
  const char* detail;
};
constexpr Cause kCauses[] = {
    {&Support::confidentialCompute, kUnsupported, kConfidentialComputing,
     "confidential computing is on, which blocks access to the GPU's counters"},
    {&Support::vGpu, kUnsupported, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
     "CUPTI does not sample this virtual GPU"},
    {&Support::vGpu, kDisabled, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
     "the hypervisor does not allow profiling of this virtual GPU"},
    {&Support::architecture, kUnsupported, CUPTI_ERROR_NOT_SUPPORTED,
     "CUPTI does not sample GPUs of this architecture"},
    {&Support::sli, kUnsupported, kSliDevice, "CUPTI does not sample GPUs that are joined by SLI"},
    {&Support::cmp, kUnsupported, kMiningDevice, "CUPTI does not sample mining processors"},
    {&Support::wsl, kUnsupported, kWslDevice, "CUPTI does not sample under WSL"},
};

bool refuses(int level) { return level == kUnsupported || level == kDisabled; }

// CUPTI takes the size of its own version and no other: 12.0 ends with `cmp`, 12.1 with `wsl`.
CUptiResult ask(const CuptiApi& api, Support& support) {
  CUptiResult code = CUPTI_SUCCESS;
  for (const size_t size : {offsetof(Support, api) + sizeof support.api, offsetof(Support, api),
                            offsetof(Support, wsl)}) {
    support.structSize = size;
    code = api.cuptiProfilerDeviceSupported(
        reinterpret_cast<CUpti_Profiler_DeviceSupported_Params*>(&support));
    if (code != CUPTI_ERROR_INVALID_PARAMETER) break;
  }
  return code;
}

Availability refusal(const Support& support) {
  for (const Cause& cause : kCauses) {
    if (support.*cause.level == cause.refusal) return cupti_refusal(cause.error, cause.detail);
  }
  return cupti_refusal(CUPTI_ERROR_NOT_SUPPORTED, "CUPTI does not sample this GPU");
}

Availability ask_cupti(const CuptiApi& api, uint32_t ordinal) {
  Availability unknown{true, "", "", ""};
  if (api.cuptiProfilerInitialize == nullptr || api.cuptiProfilerDeviceSupported == nullptr) {
    return unknown;
  }
  CUpti_Profiler_Initialize_Params initializing{CUpti_Profiler_Initialize_Params_STRUCT_SIZE,
                                                nullptr};
  Support support{};
  support.cuDevice = static_cast<CUdevice>(ordinal);
  support.api = kPcSamplingApi;
  if (api.cuptiProfilerInitialize(&initializing) != CUPTI_SUCCESS ||
      ask(api, support) != CUPTI_SUCCESS || !refuses(support.isSupported)) {
    return unknown;
  }
  Availability why = refusal(support);
  if (why.hint.empty()) why.hint = "choose the engine Trace for this GPU";
  return why;
}

}  // namespace

Availability sampling_support(const CuptiApi& api, const CudaDriver& driver,
                              const SessionDevices& devices, uint32_t ordinal) {
  if (driver.device_attribute(ordinal, kMpsEnabled).value_or(0) != 0) {
    return {false, "mps", "this process shares the GPU with others through MPS",
            "run the program without MPS (echo quit | nvidia-cuda-mps-control ends it), or choose "
            "the engine Trace"};
  }
  const std::optional<std::string> uuid = driver.device_uuid(ordinal);
  if (uuid && devices.is_shared(*uuid)) {
    return cupti_refusal(kSharedMigInstance,
                         "this MIG compute instance has only a part of its GPU instance");
  }
  return ask_cupti(api, ordinal);
}

void end_sampling(const CuptiApi& api) {
  if (api.cuptiProfilerDeInitialize == nullptr) return;
  CUpti_Profiler_DeInitialize_Params parameters{CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE,
                                                nullptr};
  api.cuptiProfilerDeInitialize(&parameters);
}

Availability sampling_memory(const CudaContexts& contexts, CUcontext context) {
  const std::optional<uint64_t> free_bytes = contexts.free_memory(context);
  if (!free_bytes || *free_bytes >= PcSamplingContext::kHardwareBufferBytes + kMemoryMargin) {
    return {true, "", "", ""};
  }
  return {false, "no_device_memory",
          "PC sampling needs 96 MB of the GPU's memory, but only " +
              std::to_string(*free_bytes >> 20) + " MB are free",
          "leave more of the GPU's memory free, or choose the engine Trace"};
}

}  // namespace gpufl::backend
