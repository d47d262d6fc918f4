// SPDX-License-Identifier: Apache-2.0
#include "tests/standin/cupti/standin_ranging.hpp"

#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "tests/standin/cupti/standin_library.hpp"

// CUPTI names them and says no more.
struct CUpti_Profiler_Host_Object {
  std::vector<std::string> metrics;
};
struct CUpti_RangeProfiler_Object {
  CUcontext context = nullptr;
  bool is_configured = false, is_started = false, is_pushed = false, is_stopped = false;
  uint32_t passes = 0, pass = 0;
  uint64_t tenths_before = 0;
  double kernels = 0;
  uint8_t* image = nullptr;
};

namespace gpufl::standin {
namespace {

struct Metric {
  std::string name;
  double value;
  uint32_t passes;
};

struct Ranging {
  std::mutex mutex;
  std::condition_variable cv;
  std::vector<Metric> metrics;
  uint32_t together = 1;
  std::map<CUcontext, std::unique_ptr<CUpti_RangeProfiler_Object>> objects;
  uint32_t started = 0, stopped = 0, disturbed = 0, hosts = 0;
  std::string hanging;
};

// Never destroyed: threads of the test may outlive main().
Ranging& ranging() {
  static auto* const one = new Ranging;
  return *one;
}

const Metric* find(std::string_view name) {
  for (const Metric& metric : ranging().metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

uint32_t passes_of(const std::vector<std::string>& names) {
  uint32_t singles = 0, passes = 0;
  for (const std::string& name : names) {
    const Metric* const metric = find(name);
    const bool is_single = metric == nullptr || metric->passes == 1;
    singles += is_single ? 1 : 0;
    passes += is_single ? 0 : metric->passes;
  }
  return passes + (singles + ranging().together - 1) / ranging().together;
}

std::unique_lock<std::mutex> begin_call(const char* function) {
  Ranging& state = ranging();
  std::unique_lock lock(state.mutex);
  if (library().launching != 0) ++state.disturbed;
  state.cv.wait(lock, [&] { return state.hanging != function; });
  return lock;
}

void reset() {
  const std::lock_guard lock(ranging().mutex);
  Ranging& state = ranging();
  state.metrics.clear();
  state.together = 1;
  state.objects.clear();
  state.started = state.stopped = state.disturbed = state.hosts = 0;
  state.hanging.clear();
}

void set_metrics(const RangedMetric* metrics, uint32_t count, uint32_t together) {
  const std::lock_guard lock(ranging().mutex);
  ranging().metrics.clear();
  for (uint32_t i = 0; i < count; ++i) {
    ranging().metrics.push_back({metrics[i].name, metrics[i].value, metrics[i].passes});
  }
  ranging().together = together;
}

uint32_t enabled() {
  const std::lock_guard lock(ranging().mutex);
  return static_cast<uint32_t>(ranging().objects.size());
}

template <uint32_t Ranging::* kCount>
uint32_t count() {
  const std::lock_guard lock(ranging().mutex);
  return ranging().*kCount;
}

void hang(const char* function) {
  const std::lock_guard lock(ranging().mutex);
  ranging().hanging = function != nullptr ? function : "";
  ranging().cv.notify_all();
}

constexpr CuptiStandinRanging kRanging = {reset,
                                          set_metrics,
                                          enabled,
                                          count<&Ranging::started>,
                                          count<&Ranging::stopped>,
                                          count<&Ranging::disturbed>,
                                          count<&Ranging::hosts>,
                                          hang};

}  // namespace
}  // namespace gpufl::standin

using namespace gpufl::standin;

#define STANDIN_EXPORT extern "C" __attribute__((visibility("default")))
#define STANDIN_RANGING_CALL(function) \
  {                                    \
    STANDIN_MAY_FAIL(function);        \
  }                                    \
  const auto call = begin_call(#function)

STANDIN_EXPORT const CuptiStandinRanging* cupti_standin_ranging() { return &kRanging; }

STANDIN_EXPORT CUptiResult
cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiProfilerHostInitialize);
  if (!library().is_profiler_initialized) return CUPTI_ERROR_NOT_INITIALIZED;
  if (std::strcmp(parameters->pChipName, "GH100") != 0 ||
      parameters->profilerType >= CUPTI_PROFILER_TYPE_PROFILER_INVALID) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  parameters->pHostObject = new CUpti_Profiler_Host_Object;
  ++ranging().hosts;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiProfilerHostDeinitialize);
  if (!library().is_profiler_initialized) return CUPTI_ERROR_NOT_INITIALIZED;
  delete parameters->pHostObject;
  --ranging().hosts;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiProfilerHostGetMetricProperties);
  if (find(parameters->pMetricName) == nullptr) return CUPTI_ERROR_INVALID_METRIC_NAME;
  parameters->pDescription = parameters->pHwUnit = parameters->pDimUnit = "";
  parameters->metricType = CUPTI_METRIC_TYPE_COUNTER;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiProfilerHostConfigAddMetrics);
  for (size_t i = 0; i < parameters->numMetrics; ++i) {
    if (find(parameters->ppMetricNames[i]) == nullptr) return CUPTI_ERROR_INVALID_METRIC_NAME;
    parameters->pHostObject->metrics.emplace_back(parameters->ppMetricNames[i]);
  }
  return CUPTI_SUCCESS;
}

// An image is the number of passes.
STANDIN_EXPORT CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiProfilerHostGetConfigImageSize);
  parameters->configImageSize = 1;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiProfilerHostGetConfigImage);
  if (parameters->configImageSize != 1) return CUPTI_ERROR_INVALID_PARAMETER;
  parameters->pConfigImage[0] = static_cast<uint8_t>(passes_of(parameters->pHostObject->metrics));
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiProfilerHostGetNumOfPasses);
  parameters->numOfPasses = parameters->pConfigImage[0];
  return CUPTI_SUCCESS;
}

// An image of counters begins with how many kernels ran in each range, or sample.
STANDIN_EXPORT CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiProfilerHostEvaluateToGpuValues);
  double kernels = 0;
  const uint8_t* const place =
      parameters->pCounterDataImage + parameters->rangeIndex * sizeof kernels;
  std::memcpy(&kernels, place, sizeof kernels);
  for (size_t i = 0; i < parameters->numMetrics; ++i) {
    const Metric* const metric = find(parameters->ppMetricNames[i]);
    if (metric == nullptr) return CUPTI_ERROR_INVALID_METRIC_NAME;
    parameters->pMetricValues[i] = metric->value * kernels;
  }
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiRangeProfilerEnable);
  if (!library().is_profiler_initialized) return CUPTI_ERROR_NOT_INITIALIZED;
  auto& object = ranging().objects[parameters->ctx];
  if (object != nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  object = std::make_unique<CUpti_RangeProfiler_Object>();
  object->context = parameters->ctx;
  parameters->pRangeProfilerObject = object.get();
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiRangeProfilerDisable);
  if (parameters->pRangeProfilerObject->is_started) return CUPTI_ERROR_INVALID_OPERATION;
  ranging().objects.erase(parameters->pRangeProfilerObject->context);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiRangeProfilerGetCounterDataSize);
  parameters->counterDataSize = sizeof(double);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiRangeProfilerCounterDataImageInitialize);
  if (parameters->counterDataSize != sizeof(double)) return CUPTI_ERROR_INVALID_PARAMETER;
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  std::memcpy(parameters->pCounterData, &nothing, sizeof nothing);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiRangeProfilerSetConfig);
  CUpti_RangeProfiler_Object& object = *parameters->pRangeProfilerObject;
  if (object.is_started || parameters->configSize != 1 ||
      parameters->counterDataImageSize != sizeof(double) || parameters->range != CUPTI_UserRange ||
      parameters->replayMode != CUPTI_UserReplay) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  object.is_configured = true;
  object.passes = parameters->pConfig[0];
  object.pass = 0;
  object.image = parameters->pCounterDataImage;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiRangeProfilerStart);
  CUpti_RangeProfiler_Object& object = *parameters->pRangeProfilerObject;
  if (!object.is_configured || object.is_started || object.pass == object.passes) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  object.is_started = true;
  object.is_stopped = false;
  ++ranging().started;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* parameters) {
  const uint64_t tenths = tenths_of_kernels();
  STANDIN_RANGING_CALL(cuptiRangeProfilerPushRange);
  CUpti_RangeProfiler_Object& object = *parameters->pRangeProfilerObject;
  if (!object.is_started || object.is_pushed) return CUPTI_ERROR_INVALID_OPERATION;
  object.is_pushed = true;
  object.tenths_before = tenths;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* parameters) {
  const uint64_t tenths = tenths_of_kernels();
  STANDIN_RANGING_CALL(cuptiRangeProfilerPopRange);
  CUpti_RangeProfiler_Object& object = *parameters->pRangeProfilerObject;
  if (!object.is_pushed) return CUPTI_ERROR_INVALID_OPERATION;
  object.is_pushed = false;
  object.kernels = static_cast<double>(tenths - object.tenths_before) / 10;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiRangeProfilerStop);
  CUpti_RangeProfiler_Object& object = *parameters->pRangeProfilerObject;
  if (!object.is_started || object.is_pushed) return CUPTI_ERROR_INVALID_OPERATION;
  object.is_started = false;
  object.is_stopped = true;
  parameters->passIndex = ++object.pass;
  parameters->isAllPassSubmitted = object.pass == object.passes ? 1 : 0;
  ++ranging().stopped;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* parameters) {
  STANDIN_RANGING_CALL(cuptiRangeProfilerDecodeData);
  const CUpti_RangeProfiler_Object& object = *parameters->pRangeProfilerObject;
  if (!object.is_stopped || object.pass != object.passes) return CUPTI_ERROR_INVALID_OPERATION;
  std::memcpy(object.image, &object.kernels, sizeof object.kernels);
  parameters->numOfRangeDropped = 0;
  return CUPTI_SUCCESS;
}
