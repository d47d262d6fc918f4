// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/code_sources.hpp"

namespace gpufl::backend {
namespace {

constexpr uint32_t kMaxDevices = 64;

std::vector<uint32_t> architectures(const CudaDriver& driver) {
  std::vector<uint32_t> all;
  for (uint32_t ordinal = 0; ordinal < kMaxDevices; ++ordinal) {
    const auto major =
        driver.device_attribute(ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    const auto minor =
        driver.device_attribute(ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    if (!major || !minor) break;
    all.push_back(static_cast<uint32_t>(*major * 10 + *minor));
  }
  return all;
}

}  // namespace

CodeSources code_sources(const CuptiApi& api, const CudaDriver& driver) {
  CodeSources sources;
  sources.checksum = [&api](std::string_view image) -> std::optional<uint64_t> {
    CUpti_GetCubinCrcParams parameters{};
    parameters.size = CUpti_GetCubinCrcParamsSize;
    parameters.cubinSize = image.size();
    parameters.cubin = image.data();
    if (api.cuptiGetCubinCrc(&parameters) != CUPTI_SUCCESS) return std::nullopt;
    return parameters.cubinCrc;
  };
  sources.architectures = architectures(driver);
  sources.cache_folders = code_cache_folders();
  return sources;
}

}  // namespace gpufl::backend
