// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/cupti_api.hpp"

#include "backend/nvidia/cupti/cupti_library.hpp"

namespace gpufl::backend {
namespace {

constexpr const char* kInstallHint =
    "it is in the CUDA toolkit, and in the wheel nvidia-cuda-cupti; GPUFL_CUPTI_LIBRARY names "
    "another file";

constexpr const char* kDriverHint = "CUPTI could not start CUDA's driver: see gpufl doctor";

// By number: headers of CUDA 12.0 lack their names.
constexpr auto kConfidentialComputing = static_cast<CUptiResult>(41);
constexpr auto kMiningDevice = static_cast<CUptiResult>(42);
constexpr auto kSharedMigInstance = static_cast<CUptiResult>(43);
constexpr auto kWslDevice = static_cast<CUptiResult>(45);

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
     "end the other profiler (other_tools in gpufl doctor names candidates), or have DCGM let the "
     "counters go: dcgmi profile --pause"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, base::Code::Unavailable, "another_subscriber",
     "another profiler of this process (torch.profiler, nsys, an injected tool) holds CUPTI's "
     "callbacks: end it before the session starts (torch.profiler keeps them unless "
     "TEARDOWN_CUPTI=1)"},
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, base::Code::PermissionDenied, "permission_denied",
     "see permissions in gpufl doctor"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, base::Code::PermissionDenied,
     "permission_denied", "the hypervisor has to allow profiling of this virtual GPU"},
    {CUPTI_ERROR_NOT_SUPPORTED, base::Code::Unsupported, "unsupported_gpu", ""},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, base::Code::Unsupported, "unsupported_gpu",
     "CUPTI does not trace this virtual GPU"},
    {kConfidentialComputing, base::Code::Unsupported, "confidential_computing",
     "the GPU's counters are closed while confidential computing is on"},
    {kSharedMigInstance, base::Code::Unsupported, "shared_mig_instance",
     "counters need a compute instance that has its whole GPU instance (nvidia-smi mig -lci)"},
    {kMiningDevice, base::Code::Unsupported, "unsupported_gpu", ""},
    {kWslDevice, base::Code::Unsupported, "unsupported_gpu", "CUPTI does not sample under WSL"},
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

bool CuptiApi::can_sample() const {
  bool is_whole = true;
#define GPUFL_CUPTI_IS_THERE(name) is_whole = is_whole && (name) != nullptr;
  GPUFL_CUPTI_SAMPLING(GPUFL_CUPTI_IS_THERE)
#undef GPUFL_CUPTI_IS_THERE
  return is_whole;
}

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
#undef GPUFL_CUPTI_LOAD_IF_THERE
  cupti->library_.load("cuptiActivityEnableRuntimeApi", cupti->api_.cuptiActivityEnableRuntimeApi);
  cupti->library_.load("cuptiActivityEnableDriverApi", cupti->api_.cuptiActivityEnableDriverApi);
  cupti->library_.load("cuptiGetGraphExecId", cupti->api_.cuptiGetGraphExecId);
  cupti->library_.load("cuptiGetCubinCrc", cupti->api_.cuptiGetCubinCrc);
  cupti->library_.load("cuptiSubscribe_v2", cupti->api_.cuptiSubscribe_v2);
  if (const CUptiResult code = cupti->api_.cuptiGetVersion(&cupti->version_);
      code != CUPTI_SUCCESS) {
    why = cupti_failure(cupti->api_, code, "cuptiGetVersion(&version)");
    return nullptr;
  }
  why = {true, "", cupti->description(), ""};
  return cupti;
}

std::string CuptiLibrary::description() const {
  return "CUPTI " + cupti_version_text(version_) + ", " + library_.path();
}

}  // namespace gpufl::backend
