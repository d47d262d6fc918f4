// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvidia_vendor.hpp"

#include "backend/nvidia/nvidia_probe.hpp"
#ifdef GPUFL_HAS_NVIDIA
#include "backend/nvidia/nvidia_backend.hpp"
#endif
#ifdef GPUFL_HAS_CUPTI
#include "backend/nvidia/cuda/cuda_start.hpp"
#include "backend/nvidia/nvperf/nvperf_catalog.hpp"
#endif
#ifdef GPUFL_HAS_NVTX
#include "backend/nvidia/nvtx/nvtx_injection.hpp"
#endif

namespace gpufl::backend {
namespace {

std::unique_ptr<Backend> make(Availability& why) {
#ifdef GPUFL_HAS_NVIDIA
  auto backend = make_nvidia_backend();
  why = backend->health_available();
  return backend;
#else
  why = {false, "not_built", "this build has no NVIDIA backend: nvml.h was not found",
         "build with ./dev build, which fetches the header"};
  return nullptr;
#endif
}

constexpr CaptureRangeWord kCaptureRanges[] = {{"cudaProfilerApi", CaptureRangeKind::Profiler},
                                               {"nvtx:", CaptureRangeKind::Marker}};
constexpr std::string_view kVariables[] = {"GPUFL_NVML_", "GPUFL_CUPTI_"};
constexpr std::string_view kInjectionVariables[] = {"CUDA_INJECTION64_PATH",
                                                    "NVTX_INJECTION64_PATH"};

}  // namespace

constexpr Vendor kNvidia = {
    .name = "nvidia",
    .is_automatic = true,
    .make = make,
    .probe = probe_nvidia,
    .capture_ranges = kCaptureRanges,
    .variables = kVariables,
    .injection_variables = kInjectionVariables,
#ifdef GPUFL_HAS_CUPTI
    .driver_starts = nvidia_cuda_starts,
    .open_catalog = open_nvperf_catalog,
    .counting_engines = nvidia_counting_engines,
#endif
#ifdef GPUFL_HAS_NVTX
    .annotations_start = start_nvtx_injection,
#endif
};

}  // namespace gpufl::backend
