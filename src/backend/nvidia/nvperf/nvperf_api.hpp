// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nvperf_cuda_host.h>
#include <nvperf_host.h>

#include <memory>
#include <string>
#include <vector>

#include "base/dynamic_library.hpp"
#include "base/status.hpp"

// libnvperf_host, NVIDIA's catalogue of hardware counters, opened at run time from libcupti's own
// folder, because the two are of one version. It needs neither a driver nor a GPU. One thread.
namespace gpufl::backend {

#define GPUFL_NVPERF(X)                                         \
  X(NVPW_InitializeHost)                                        \
  X(NVPW_GetSupportedChipNames)                                 \
  X(NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize)      \
  X(NVPW_CUDA_MetricsEvaluator_Initialize)                      \
  X(NVPW_MetricsEvaluator_Destroy)                              \
  X(NVPW_MetricsEvaluator_GetMetricNames)                       \
  X(NVPW_MetricsEvaluator_GetMetricTypeAndIndex)                \
  X(NVPW_MetricsEvaluator_GetSupportedSubmetrics)               \
  X(NVPW_MetricsEvaluator_GetCounterProperties)                 \
  X(NVPW_MetricsEvaluator_GetRatioMetricProperties)             \
  X(NVPW_MetricsEvaluator_GetThroughputMetricProperties)        \
  X(NVPW_MetricsEvaluator_GetMetricDimUnits)                    \
  X(NVPW_MetricsEvaluator_DimUnitToString)                      \
  X(NVPW_MetricsEvaluator_HwUnitToString)                       \
  X(NVPW_MetricsEvaluator_GetMetricRawDependencies)             \
  X(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest) \
  X(NVPW_CUDA_RawMetricsConfig_Create_V2)                       \
  X(NVPW_RawMetricsConfig_Destroy)                              \
  X(NVPW_RawMetricsConfig_BeginPassGroup)                       \
  X(NVPW_RawMetricsConfig_AddMetrics)                           \
  X(NVPW_RawMetricsConfig_EndPassGroup)                         \
  X(NVPW_RawMetricsConfig_GenerateConfigImage)                  \
  X(NVPW_RawMetricsConfig_GetNumPasses)

// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): the names are NVIDIA's.
struct NvperfApi {
#define GPUFL_NVPERF_MEMBER(name) decltype(::name)* name = nullptr;
  GPUFL_NVPERF(GPUFL_NVPERF_MEMBER)
#undef GPUFL_NVPERF_MEMBER
};
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)

class NvperfLibrary {
 public:
  static base::Result<std::shared_ptr<NvperfLibrary>> open();

  const NvperfApi& api() const { return api_; }
  std::string path() const { return library_.path(); }
  bool knows(const std::string& chip) const;
  std::string chips() const;  // that it knows: "GH100, GB100"

 private:
  explicit NvperfLibrary(base::DynamicLibrary library) : library_(std::move(library)) {}

  std::vector<std::string> list() const;

  base::DynamicLibrary library_;
  NvperfApi api_;
};

}  // namespace gpufl::backend
