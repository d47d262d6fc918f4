// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvperf/nvperf_api.hpp"

#include <algorithm>
#include <filesystem>

#include "backend/nvidia/cuda/cuda_search.hpp"
#include "backend/nvidia/cupti/cupti_library.hpp"

namespace gpufl::backend {
namespace {

constexpr const char* kFile = "libnvperf_host.so";
constexpr const char* kHint =
    "; it is in the CUDA toolkit, and in the wheel nvidia-cuda-cupti; GPUFL_CUPTI_LIBRARY names a "
    "libcupti whose folder has it";

}  // namespace

base::Result<std::shared_ptr<NvperfLibrary>> NvperfLibrary::open() {
  const auto cupti = open_cupti(CudaSearch(""));
  if (!cupti) {
    return base::Status(cupti.status().code(), "libcupti: " + cupti.status().message() + kHint);
  }
  const std::filesystem::path file = std::filesystem::path(cupti->path()).parent_path() / kFile;
  auto opened = base::DynamicLibrary::open({file.string()});
  if (!opened) {
    return base::Status(opened.status().code(),
                        "NVIDIA's catalogue of counters: " + opened.status().message() + kHint);
  }
  std::shared_ptr<NvperfLibrary> nvperf(new NvperfLibrary(std::move(*opened)));
  std::string missing;
#define GPUFL_NVPERF_LOAD(name)                         \
  if (!nvperf->library_.load(#name, nvperf->api_.name)) \
    missing += missing.empty() ? #name : ", " #name;
  GPUFL_NVPERF(GPUFL_NVPERF_LOAD)
#undef GPUFL_NVPERF_LOAD
  if (!missing.empty()) {
    return base::Status(base::Code::Unsupported, nvperf->path() + " lacks " + missing +
                                                     "; use the CUPTI of CUDA 12.6 or newer");
  }
  NVPW_InitializeHost_Params parameters{NVPW_InitializeHost_Params_STRUCT_SIZE, nullptr};
  if (const NVPA_Status code = nvperf->api_.NVPW_InitializeHost(&parameters);
      code != NVPA_STATUS_SUCCESS) {
    return base::Status(base::Code::Unavailable,
                        nvperf->path() + ": NVPW_InitializeHost(&parameters): NVPA_Status " +
                            std::to_string(static_cast<int>(code)));
  }
  return nvperf;
}

std::vector<std::string> NvperfLibrary::list() const {
  NVPW_GetSupportedChipNames_Params parameters{NVPW_GetSupportedChipNames_Params_STRUCT_SIZE,
                                               nullptr, nullptr, 0};
  if (api_.NVPW_GetSupportedChipNames(&parameters) != NVPA_STATUS_SUCCESS) return {};
  std::vector<std::string> chips(parameters.ppChipNames,
                                 parameters.ppChipNames + parameters.numChipNames);
  std::sort(chips.begin(), chips.end());
  return chips;
}

bool NvperfLibrary::knows(const std::string& chip) const {
  const std::vector<std::string> known = list();
  return std::binary_search(known.begin(), known.end(), chip);
}

std::string NvperfLibrary::chips() const {
  std::string text;
  for (const std::string& chip : list()) text.append(text.empty() ? "" : ", ").append(chip);
  return text;
}

}  // namespace gpufl::backend
