// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cuda/cuda_driver.hpp"

#include <algorithm>
#include <cstdio>

namespace gpufl::backend {
namespace {

constexpr uint32_t kMaxDevices = 1024;
constexpr size_t kPrefixLength = 4;  // "GPU-", "MIG-"

auto find_uuid(const std::vector<std::string>& uuids, const std::string& uuid) {
  return std::find_if(uuids.begin(), uuids.end(), [&](const std::string& one) {
    return one.size() > kPrefixLength && one.compare(kPrefixLength, std::string::npos, uuid) == 0;
  });
}

}  // namespace

CudaDriver::CudaDriver()
    : library_([] {
        auto library = base::DynamicLibrary::open({"libcuda.so.1"});
        return library ? std::move(*library) : base::DynamicLibrary();
      }()),
      graphs_(library_),
      contexts_(library_) {
  library_.load("cuStreamIsCapturing", stream_is_capturing_);
  library_.load("cuThreadExchangeStreamCaptureMode", exchange_capture_mode_);
  library_.load("cuDeviceGet", device_get_);
  library_.load("cuDeviceGetAttribute", device_get_attribute_);
  // The second version tells a MIG instance from its GPU.
  if (!library_.load("cuDeviceGetUuid_v2", device_get_uuid_)) {
    library_.load("cuDeviceGetUuid", device_get_uuid_);
  }
}

std::optional<bool> CudaDriver::is_capturing(CUstream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (stream_is_capturing_ == nullptr || stream_is_capturing_(stream, &status) != CUDA_SUCCESS) {
    return {};
  }
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

std::string uuid_text(const CUuuid& uuid) {
  std::string text;
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

std::optional<int> CudaDriver::device_attribute(uint32_t ordinal,
                                                CUdevice_attribute attribute) const {
  CUdevice device = 0;
  int value = 0;
  if (device_get_ == nullptr || device_get_attribute_ == nullptr ||
      device_get_(&device, static_cast<int>(ordinal)) != CUDA_SUCCESS ||
      device_get_attribute_(&value, attribute, device) != CUDA_SUCCESS) {
    return {};
  }
  return value;
}

std::optional<std::string> CudaDriver::device_uuid(uint32_t ordinal) const {
  CUdevice device = 0;
  CUuuid uuid{};
  if (device_get_ == nullptr || device_get_uuid_ == nullptr ||
      device_get_(&device, static_cast<int>(ordinal)) != CUDA_SUCCESS ||
      device_get_uuid_(&uuid, device) != CUDA_SUCCESS) {
    return {};
  }
  return uuid_text(uuid);
}

base::Status copy_from_current_gpu(const void* from, void* to, size_t bytes) {
  const auto loaded = base::DynamicLibrary::find_loaded({"libcuda.so.1"});
  CUresult (*get_current)(CUcontext*) = nullptr;
  CUresult (*copy)(void*, CUdeviceptr, size_t) = nullptr;
  if (!loaded || !loaded->load("cuCtxGetCurrent", get_current) ||
      !loaded->load("cuMemcpyDtoH_v2", copy)) {
    return {base::Code::Unavailable, "this process has not loaded libcuda"};
  }
  CUcontext context = nullptr;
  if (get_current(&context) != CUDA_SUCCESS || context == nullptr) {
    return {base::Code::Unavailable, "no CUDA context is current on this thread"};
  }
  const CUresult code = copy(to, reinterpret_cast<CUdeviceptr>(from), bytes);
  if (code == CUDA_SUCCESS) return base::Status::ok();
  return {base::Code::Unavailable, "cuMemcpyDtoH: error " + std::to_string(code)};
}

bool is_cuda_initialised() {
  const auto loaded = base::DynamicLibrary::find_loaded({"libcuda.so.1"});
  CUresult (*device_get_count)(int*) = nullptr;
  if (!loaded || !loaded->load("cuDeviceGetCount", device_get_count)) return false;
  int count = 0;
  return device_get_count(&count) != CUDA_ERROR_NOT_INITIALIZED;
}

bool SessionDevices::is_shared(const std::string& uuid) const {
  return find_uuid(shared, uuid) != shared.end();
}

int64_t DeviceNumbers::of(uint32_t ordinal) {
  if (ordinal >= kMaxDevices) return devices_.first + ordinal;
  while (numbers_.size() <= ordinal) {
    numbers_.push_back(look_up(static_cast<uint32_t>(numbers_.size())));
  }
  return numbers_[ordinal];
}

int64_t DeviceNumbers::look_up(uint32_t ordinal) const {
  const std::optional<std::string> uuid = driver_.device_uuid(ordinal);
  if (!uuid) return devices_.first + ordinal;
  const auto& uuids = devices_.uuids;
  const auto found = find_uuid(uuids, *uuid);
  return devices_.first + (found != uuids.end() ? found - uuids.begin() : int64_t{ordinal});
}

}  // namespace gpufl::backend
