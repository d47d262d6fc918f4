// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/cupti_api.hpp"

#include "backend/nvidia/cupti/cupti_library.hpp"

namespace gpufl::backend {
namespace {

constexpr const char* kInstallHint =
    "it is in the CUDA toolkit, and in the wheel nvidia-cuda-cupti; GPUFL_CUPTI_LIBRARY names "
    "another file";

constexpr const char* kDriverHint = "CUPTI could not start CUDA's driver: see gpufl doctor";

struct ErrorSpec {
  CUptiResult code;
  base::Code status;
  const char* reason;
  const char* hint;
};

// What the user can meet when tracing starts. Everything else is "cupti_error".
constexpr ErrorSpec kErrors[] = {
    {CUPTI_ERROR_NOT_INITIALIZED, base::Code::Unavailable, "cuda_not_available", kDriverHint},
    {CUPTI_ERROR_INVALID_DEVICE, base::Code::Unavailable, "no_gpu", ""},
    {CUPTI_ERROR_OUT_OF_MEMORY, base::Code::LimitReached, "out_of_memory", ""},
    {CUPTI_ERROR_NOT_COMPATIBLE, base::Code::Unavailable, "another_tool",
     "end the other profiler (other_tools in gpufl doctor names candidates)"},
    {CUPTI_ERROR_HARDWARE_BUSY, base::Code::Unavailable, "counters_held",
     "end the other profiler (other_tools in gpufl doctor names candidates), or let DCGM release "
     "the counters: dcgmi profile --pause"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, base::Code::Unavailable, "another_subscriber",
     "another profiler of this process (torch.profiler, nsys, an injected tool) holds CUPTI's "
     "callbacks: end it before the session starts (torch.profiler keeps them unless "
     "TEARDOWN_CUPTI=1)"},
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, base::Code::PermissionDenied, "permission_denied",
     "see permissions in gpufl doctor"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, base::Code::PermissionDenied, "vgpu",
     "have the hypervisor allow profiling of this virtual GPU (its parameter enable_profiling=1)"},
    {CUPTI_ERROR_NOT_SUPPORTED, base::Code::Unsupported, "unsupported_gpu", ""},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, base::Code::Unsupported, "vgpu",
     "use a type of virtual GPU that can be profiled, or pass the whole GPU through"},
    {kConfidentialComputing, base::Code::Unsupported, "confidential_computing",
     "set the GPU's confidential computing mode to devtools, or turn it off"},
    {kSharedMigInstance, base::Code::Unsupported, "shared_mig_instance",
     "use a compute instance that has its whole GPU instance (nvidia-smi mig -lci lists them)"},
    {kMiningDevice, base::Code::Unsupported, "unsupported_gpu", "use another GPU"},
    {kSliDevice, base::Code::Unsupported, "unsupported_gpu", "turn SLI off"},
    {kWslDevice, base::Code::Unsupported, "unsupported_gpu", "use Linux without WSL"},
    {CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED, base::Code::Unsupported, "unsupported_gpu", ""},
    {CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED, base::Code::Unavailable, "another_tool",
     "the process already uses CUPTI's old profiler: end that first"},
};

const ErrorSpec* find_error(CUptiResult code) {
  for (const ErrorSpec& error : kErrors) {
    if (error.code == code) return &error;
  }
  return nullptr;
}

}  // namespace

#define GPUFL_CUPTI_IS_THERE(name) is_whole = is_whole && (name) != nullptr;
bool CuptiApi::can_sample() const {
  bool is_whole = true;
  GPUFL_CUPTI_SAMPLING(GPUFL_CUPTI_IS_THERE)
  return is_whole;
}

bool CuptiApi::can_count() const {
  bool is_whole = cuptiDeviceGetChipName != nullptr;
  GPUFL_CUPTI_COUNTING(GPUFL_CUPTI_IS_THERE)
  return is_whole;
}

bool CuptiApi::can_range() const {
  bool is_whole = true;
  GPUFL_CUPTI_HOST(GPUFL_CUPTI_IS_THERE)
  GPUFL_CUPTI_RANGES(GPUFL_CUPTI_IS_THERE)
  return is_whole;
}

bool CuptiApi::can_sample_pm() const {
  bool is_whole = cuptiProfilerInitialize != nullptr;
  GPUFL_CUPTI_HOST(GPUFL_CUPTI_IS_THERE)
  GPUFL_CUPTI_PM_SAMPLING(GPUFL_CUPTI_IS_THERE)
  return is_whole;
}
#undef GPUFL_CUPTI_IS_THERE

std::string cupti_name(const CuptiApi& api, CUptiResult code) {
  const char* name = nullptr;
  if (api.cuptiGetResultString(code, &name) == CUPTI_SUCCESS && name != nullptr) return name;
  return "CUPTI_ERROR_" + std::to_string(static_cast<int>(code));
}

base::Status cupti_status(const CuptiApi& api, CUptiResult code, const char* text) {
  if (code == CUPTI_SUCCESS) return base::Status::ok();
  const ErrorSpec* error = find_error(code);
  return {error != nullptr ? error->status : base::Code::Unavailable,
          std::string(text) + ": " + cupti_name(api, code) + " (" +
              std::to_string(static_cast<int>(code)) + ")"};
}

Availability cupti_failure(const CuptiApi& api, CUptiResult code, const char* text) {
  const ErrorSpec* error = find_error(code);
  return {false, error != nullptr ? error->reason : "cupti_error",
          cupti_status(api, code, text).message(), error != nullptr ? error->hint : ""};
}

Availability cupti_outcome(const CuptiApi& api, CUptiResult code, const char* text) {
  if (code == CUPTI_SUCCESS) return {true, "", "", ""};
  return cupti_failure(api, code, text);
}

Availability cupti_refusal(CUptiResult code, std::string detail) {
  const ErrorSpec& error = *find_error(code);
  return {false, error.reason, std::move(detail), error.hint};
}

std::shared_ptr<CuptiLibrary> CuptiLibrary::open(Availability& why) {
  auto opened = open_cupti(CudaSearch(""));
  if (!opened) {
    const bool missing = opened.status().code() == base::Code::NotFound;
    why = {false, missing ? "library_not_found" : "library_not_loadable",
           "libcupti: " + opened.status().message(), kInstallHint};
    return nullptr;
  }
  if (const base::Status callable = can_call_cupti(*opened); !callable) {
    why = {false, "cuda_not_available", "CUDA's driver: " + callable.message(), kDriverHint};
    return nullptr;
  }
  std::shared_ptr<CuptiLibrary> cupti(new CuptiLibrary(std::move(*opened)));
  std::string missing;
#define GPUFL_CUPTI_LOAD(name)                        \
  if (!cupti->library_.load(#name, cupti->api_.name)) \
    missing += missing.empty() ? #name : ", " #name;
  GPUFL_CUPTI_REQUIRED(GPUFL_CUPTI_LOAD)
#undef GPUFL_CUPTI_LOAD
  if (!missing.empty()) {
    why = {false, "cupti_too_old", cupti->library_.path() + " lacks " + missing,
           "use the CUPTI of CUDA 12.0 or newer"};
    return nullptr;
  }
#define GPUFL_CUPTI_LOAD_IF_THERE(name) cupti->library_.load(#name, cupti->api_.name);
  GPUFL_CUPTI_SAMPLING(GPUFL_CUPTI_LOAD_IF_THERE)
  GPUFL_CUPTI_COUNTING(GPUFL_CUPTI_LOAD_IF_THERE)
  GPUFL_CUPTI_HOST(GPUFL_CUPTI_LOAD_IF_THERE)
  GPUFL_CUPTI_RANGES(GPUFL_CUPTI_LOAD_IF_THERE)
  GPUFL_CUPTI_PM_SAMPLING(GPUFL_CUPTI_LOAD_IF_THERE)
#undef GPUFL_CUPTI_LOAD_IF_THERE
  cupti->library_.load("cuptiActivityEnableRuntimeApi", cupti->api_.cuptiActivityEnableRuntimeApi);
  cupti->library_.load("cuptiActivityEnableDriverApi", cupti->api_.cuptiActivityEnableDriverApi);
  cupti->library_.load("cuptiGetGraphExecId", cupti->api_.cuptiGetGraphExecId);
  cupti->library_.load("cuptiGetCubinCrc", cupti->api_.cuptiGetCubinCrc);
  cupti->library_.load("cuptiProfilerInitialize", cupti->api_.cuptiProfilerInitialize);
  cupti->library_.load("cuptiProfilerDeInitialize", cupti->api_.cuptiProfilerDeInitialize);
  cupti->library_.load("cuptiProfilerDeviceSupported", cupti->api_.cuptiProfilerDeviceSupported);
  cupti->library_.load("cuptiSubscribe_v2", cupti->api_.cuptiSubscribe_v2);
  if (const CUptiResult code = cupti->api_.cuptiGetVersion(&cupti->version_);
      code != CUPTI_SUCCESS) {
    why = cupti_failure(cupti->api_, code, "cuptiGetVersion(&version)");
    return nullptr;
  }
  why = {true, "", cupti->description(), ""};
  return cupti;
}

Availability CuptiLibrary::has(const CuptiPart& part) const {
  if ((api_.*part.is_there)()) return {true, "", "", ""};
  return {false, "cupti_too_old", description() + " has no " + part.name,
          std::string("use the CUPTI of CUDA ") + part.since + " or newer"};
}

std::string CuptiLibrary::description() const {
  return "CUPTI " + cupti_version_text(version_) + ", " + library_.path();
}

}  // namespace gpufl::backend
