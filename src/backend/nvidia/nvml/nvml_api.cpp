// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvml/nvml_api.hpp"

#include <cstdlib>

namespace gpufl::backend {
namespace {

struct ErrorSpec {
  nvmlReturn_t code;
  const char* name;
  base::Code status;
};

#define GPUFL_NVML_ERROR(name, status) {name, #name, base::Code::status}
constexpr ErrorSpec kErrors[] = {
    GPUFL_NVML_ERROR(NVML_ERROR_UNINITIALIZED, Internal),
    GPUFL_NVML_ERROR(NVML_ERROR_INVALID_ARGUMENT, InvalidArgument),
    GPUFL_NVML_ERROR(NVML_ERROR_NOT_SUPPORTED, Unsupported),
    GPUFL_NVML_ERROR(NVML_ERROR_NO_PERMISSION, PermissionDenied),
    GPUFL_NVML_ERROR(NVML_ERROR_NOT_FOUND, NotFound),
    GPUFL_NVML_ERROR(NVML_ERROR_INSUFFICIENT_SIZE, LimitReached),
    GPUFL_NVML_ERROR(NVML_ERROR_INSUFFICIENT_POWER, Unavailable),
    GPUFL_NVML_ERROR(NVML_ERROR_DRIVER_NOT_LOADED, Unavailable),
    GPUFL_NVML_ERROR(NVML_ERROR_TIMEOUT, Unavailable),
    GPUFL_NVML_ERROR(NVML_ERROR_IRQ_ISSUE, Unavailable),
    GPUFL_NVML_ERROR(NVML_ERROR_LIBRARY_NOT_FOUND, NotFound),
    GPUFL_NVML_ERROR(NVML_ERROR_FUNCTION_NOT_FOUND, Unsupported),
    GPUFL_NVML_ERROR(NVML_ERROR_CORRUPTED_INFOROM, Corrupt),
    GPUFL_NVML_ERROR(NVML_ERROR_GPU_IS_LOST, Unavailable),
    GPUFL_NVML_ERROR(NVML_ERROR_RESET_REQUIRED, Unavailable),
    GPUFL_NVML_ERROR(NVML_ERROR_OPERATING_SYSTEM, PermissionDenied),
    GPUFL_NVML_ERROR(NVML_ERROR_LIB_RM_VERSION_MISMATCH, Unavailable),
    GPUFL_NVML_ERROR(NVML_ERROR_IN_USE, Unavailable),
    GPUFL_NVML_ERROR(NVML_ERROR_MEMORY, LimitReached),
    GPUFL_NVML_ERROR(NVML_ERROR_NO_DATA, NotFound),
    GPUFL_NVML_ERROR(NVML_ERROR_INSUFFICIENT_RESOURCES, LimitReached),
    GPUFL_NVML_ERROR(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, Unsupported),
    GPUFL_NVML_ERROR(NVML_ERROR_UNKNOWN, Unavailable),
};

const ErrorSpec* find_error(nvmlReturn_t code) {
  for (const ErrorSpec& error : kErrors) {
    if (error.code == code) return &error;
  }
  return nullptr;
}

constexpr const char* kInstallHint =
    "install the NVIDIA driver; in a container start it with the GPUs (docker run --gpus all) and "
    "NVIDIA_DRIVER_CAPABILITIES with \"utility\"";

Availability init_failure(nvmlReturn_t code, const base::Status& status) {
  const std::string& text = status.message();
  switch (code) {
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return {false, "driver_not_loaded", text,
              "load the kernel module (modprobe nvidia); if that fails, see dmesg"};
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
      return {false, "version_mismatch", text,
              "the driver was updated while its old kernel module is loaded: reboot, or reload "
              "the nvidia modules"};
    case NVML_ERROR_NO_PERMISSION:
      return {false, "permission_denied", text,
              "give this user access to /dev/nvidiactl and /dev/nvidia*"};
    case NVML_ERROR_OPERATING_SYSTEM:
      return {false, "blocked_by_system", text,
              "the control group or the container denies /dev/nvidiactl: allow the device"};
    default: return {false, "nvml_error", text, ""};
  }
}

}  // namespace

std::string nvml_name(nvmlReturn_t code) {
  if (code == NVML_SUCCESS) return "NVML_SUCCESS";
  if (const ErrorSpec* error = find_error(code)) return error->name;
  return "NVML_ERROR_" + std::to_string(static_cast<int>(code));
}

base::Status nvml_status(const NvmlApi& api, nvmlReturn_t code, const char* text) {
  if (code == NVML_SUCCESS) return base::Status::ok();
  const ErrorSpec* error = find_error(code);
  const char* words = api.nvmlErrorString(code);
  return {error != nullptr ? error->status : base::Code::Unavailable,
          std::string(text) + ": " + (words != nullptr ? words : "unknown error") + " (" +
              nvml_name(code) + ", " + std::to_string(static_cast<int>(code)) + ")"};
}

std::shared_ptr<NvmlLibrary> NvmlLibrary::open(Availability& why) {
  const char* chosen = std::getenv("GPUFL_NVML_LIBRARY");
  const bool is_chosen = chosen != nullptr && *chosen != '\0';
  auto opened = base::DynamicLibrary::open({is_chosen ? chosen : "libnvidia-ml.so.1"});
  if (!opened) {
    const bool missing = opened.status().code() == base::Code::NotFound;
    why = {false, missing ? "library_not_found" : "library_not_loadable", opened.status().message(),
           is_chosen ? "GPUFL_NVML_LIBRARY names it" : kInstallHint};
    return nullptr;
  }
  std::shared_ptr<NvmlLibrary> nvml(new NvmlLibrary(std::move(*opened)));
  std::string missing;
#define GPUFL_NVML_LOAD(name) \
  if (!nvml->library_.load(#name, nvml->api_.name)) missing += missing.empty() ? #name : ", " #name;
  GPUFL_NVML_REQUIRED(GPUFL_NVML_LOAD)
#undef GPUFL_NVML_LOAD
  if (!missing.empty()) {
    why = {false, "driver_too_old", nvml->path() + " lacks " + missing,
           "install driver 525 (CUDA 12.0) or newer"};
    return nullptr;
  }
#define GPUFL_NVML_LOAD(name) nvml->library_.load(#name, nvml->api_.name);
  GPUFL_NVML_OPTIONAL(GPUFL_NVML_LOAD)
#undef GPUFL_NVML_LOAD
  nvml->library_.load("nvmlDeviceGetCurrentClocksEventReasons",
                      nvml->api_.nvmlDeviceGetCurrentClocksEventReasons);

  const nvmlReturn_t code = nvml->api_.nvmlInit_v2();
  if (code != NVML_SUCCESS) {
    why = init_failure(code, nvml_status(nvml->api_, code, "nvmlInit_v2()"));
    return nullptr;
  }
  nvml->initialised_ = true;
  return nvml;
}

NvmlLibrary::~NvmlLibrary() {
  if (initialised_) api_.nvmlShutdown();
}

std::string NvmlLibrary::driver_version() const {
  char text[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE] = "";
  return api_.nvmlSystemGetDriverVersion(text, sizeof text) == NVML_SUCCESS ? text : "";
}

std::string NvmlLibrary::cuda_version() const {
  int version = 0;
  if (call(api_.nvmlSystemGetCudaDriverVersion_v2, &version) != NVML_SUCCESS) return {};
  return std::to_string(NVML_CUDA_DRIVER_VERSION_MAJOR(version)) + "." +
         std::to_string(NVML_CUDA_DRIVER_VERSION_MINOR(version));
}

}  // namespace gpufl::backend
