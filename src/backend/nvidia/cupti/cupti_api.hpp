// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include <memory>

#include "backend/backend.hpp"
#include "base/dynamic_library.hpp"
#include "base/status.hpp"

// libcupti, opened at run time: one typed table of the functions we call, for CUPTI 12.0 and
// newer. Functions that not every version has are null there. CUPTI is safe from any thread but
// for cuptiFinalize (cupti_tracer.hpp).
namespace gpufl::backend {

#define GPUFL_CUPTI_REQUIRED(X)             \
  X(cuptiGetVersion)                        \
  X(cuptiGetResultString)                   \
  X(cuptiGetTimestamp)                      \
  X(cuptiGetCallbackName)                   \
  X(cuptiGetContextId)                      \
  X(cuptiGetGraphNodeId)                    \
  X(cuptiGetStreamIdEx)                     \
  X(cuptiSetThreadIdType)                   \
  X(cuptiSubscribe)                         \
  X(cuptiUnsubscribe)                       \
  X(cuptiEnableCallback)                    \
  X(cuptiEnableDomain)                      \
  X(cuptiFinalize)                          \
  X(cuptiActivityEnable)                    \
  X(cuptiActivityDisable)                   \
  X(cuptiActivityRegisterCallbacks)         \
  X(cuptiActivityRegisterTimestampCallback) \
  X(cuptiActivityEnableLatencyTimestamps)   \
  X(cuptiActivityFlushAll)                  \
  X(cuptiActivityGetNextRecord)             \
  X(cuptiActivityGetNumDroppedRecords)      \
  X(cuptiActivityPushExternalCorrelationId) \
  X(cuptiActivityPopExternalCorrelationId)

// PC sampling: all of them, or it cannot be had.
#define GPUFL_CUPTI_SAMPLING(X)        \
  X(cuptiPCSamplingEnable)             \
  X(cuptiPCSamplingDisable)            \
  X(cuptiPCSamplingStart)              \
  X(cuptiPCSamplingStop)               \
  X(cuptiPCSamplingGetData)            \
  X(cuptiPCSamplingGetNumStallReasons) \
  X(cuptiPCSamplingGetStallReasons)    \
  X(cuptiPCSamplingSetConfigurationAttribute)

// Counters by instruction (12.2): likewise.
#define GPUFL_CUPTI_COUNTING(X)        \
  X(cuptiSassMetricsGetProperties)     \
  X(cuptiSassMetricsSetConfig)         \
  X(cuptiSassMetricsUnsetConfig)       \
  X(cuptiSassMetricsEnable)            \
  X(cuptiSassMetricsDisable)           \
  X(cuptiSassMetricsGetDataProperties) \
  X(cuptiSassMetricsFlushData)

// What plans and evaluates hardware counters (12.6): likewise.
#define GPUFL_CUPTI_HOST(X)               \
  X(cuptiDeviceGetChipName)               \
  X(cuptiProfilerHostInitialize)          \
  X(cuptiProfilerHostDeinitialize)        \
  X(cuptiProfilerHostGetMetricProperties) \
  X(cuptiProfilerHostConfigAddMetrics)    \
  X(cuptiProfilerHostGetConfigImageSize)  \
  X(cuptiProfilerHostGetConfigImage)      \
  X(cuptiProfilerHostGetNumOfPasses)      \
  X(cuptiProfilerHostEvaluateToGpuValues)

// Hardware counters of ranges (12.6): likewise.
#define GPUFL_CUPTI_RANGES(X)             \
  X(cuptiRangeProfilerEnable)             \
  X(cuptiRangeProfilerDisable)            \
  X(cuptiRangeProfilerSetConfig)          \
  X(cuptiRangeProfilerStart)              \
  X(cuptiRangeProfilerStop)               \
  X(cuptiRangeProfilerPushRange)          \
  X(cuptiRangeProfilerPopRange)           \
  X(cuptiRangeProfilerDecodeData)         \
  X(cuptiRangeProfilerGetCounterDataSize) \
  X(cuptiRangeProfilerCounterDataImageInitialize)

// Hardware counters over time (12.6): likewise.
#define GPUFL_CUPTI_PM_SAMPLING(X)             \
  X(cuptiPmSamplingGetCounterAvailability)     \
  X(cuptiPmSamplingEnable)                     \
  X(cuptiPmSamplingDisable)                    \
  X(cuptiPmSamplingSetConfig)                  \
  X(cuptiPmSamplingStart)                      \
  X(cuptiPmSamplingStop)                       \
  X(cuptiPmSamplingDecodeData)                 \
  X(cuptiPmSamplingGetCounterDataSize)         \
  X(cuptiPmSamplingCounterDataImageInitialize) \
  X(cuptiPmSamplingGetCounterDataInfo)         \
  X(cuptiPmSamplingCounterDataGetSampleInfo)

// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): the names are NVIDIA's.
#if CUPTI_API_VERSION >= 130000
using CuptiSubscriberParams = CUpti_SubscriberParams;
#else
struct CuptiSubscriberParams {
  size_t structSize;
  const char* subscriberName;
  char* oldSubscriberName;  // who has subscribed already
  size_t oldSubscriberSize;
};
#endif

// CUpti_Profiler_DeviceSupported_Params of CUDA 12.8 and newer; earlier ones end sooner.
struct CuptiDeviceSupport {
  size_t structSize;
  void* pPriv;
  CUdevice cuDevice;
  int isSupported, architecture, sli, vGpu, confidentialCompute, cmp;
  int wsl;
  int api;
};
#if CUPTI_API_VERSION >= 130000
static_assert(sizeof(CuptiDeviceSupport) == sizeof(CUpti_Profiler_DeviceSupported_Params));
static_assert(offsetof(CuptiDeviceSupport, api) ==
              offsetof(CUpti_Profiler_DeviceSupported_Params, api));
#endif

struct CuptiApi {
#define GPUFL_CUPTI_MEMBER(name) decltype(::name)* name = nullptr;
  GPUFL_CUPTI_REQUIRED(GPUFL_CUPTI_MEMBER)
  GPUFL_CUPTI_SAMPLING(GPUFL_CUPTI_MEMBER)
  GPUFL_CUPTI_COUNTING(GPUFL_CUPTI_MEMBER)
  GPUFL_CUPTI_HOST(GPUFL_CUPTI_MEMBER)
  GPUFL_CUPTI_RANGES(GPUFL_CUPTI_MEMBER)
  GPUFL_CUPTI_PM_SAMPLING(GPUFL_CUPTI_MEMBER)
#undef GPUFL_CUPTI_MEMBER
  // What not every version has, spelled out for headers that lack it.
  CUptiResult(CUPTIAPI* cuptiActivityEnableRuntimeApi)(CUpti_CallbackId,
                                                       uint8_t) = nullptr;                   // 12.6
  CUptiResult(CUPTIAPI* cuptiActivityEnableDriverApi)(CUpti_CallbackId, uint8_t) = nullptr;  // 12.6
  CUptiResult(CUPTIAPI* cuptiGetGraphExecId)(CUgraphExec, uint32_t*) = nullptr;              // 12.3
  CUptiResult(CUPTIAPI* cuptiGetCubinCrc)(CUpti_GetCubinCrcParams*) = nullptr;
  CUptiResult(CUPTIAPI* cuptiProfilerInitialize)(CUpti_Profiler_Initialize_Params*) = nullptr;
  CUptiResult(CUPTIAPI* cuptiProfilerDeInitialize)(CUpti_Profiler_DeInitialize_Params*) = nullptr;
  CUptiResult(CUPTIAPI* cuptiProfilerDeviceSupported)(CUpti_Profiler_DeviceSupported_Params*) =
      nullptr;
  CUptiResult(CUPTIAPI* cuptiSubscribe_v2)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*,
                                           CuptiSubscriberParams*) = nullptr;  // 13.0

  bool can_sample() const;     // has what PC sampling needs
  bool can_count() const;      // and what counters by instruction do
  bool can_range() const;      // and hardware counters of ranges
  bool can_sample_pm() const;  // and hardware counters over time
};

// A part of CUPTI that an engine needs, and the first CUDA whose CUPTI has it.
struct CuptiPart {
  const char* name;
  const char* since;
  bool (CuptiApi::*is_there)() const;
};
inline constexpr CuptiPart kPcSampling{"PC sampling", "12.0", &CuptiApi::can_sample};
inline constexpr CuptiPart kSassMetrics{"SASS metrics", "12.2", &CuptiApi::can_count};
inline constexpr CuptiPart kRangeProfiler{"range profiler", "12.6", &CuptiApi::can_range};
inline constexpr CuptiPart kPmSampling{"PM sampling", "12.6", &CuptiApi::can_sample_pm};
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)

// By number: headers of CUDA 12.0 lack their names.
constexpr auto kConfidentialComputing = static_cast<CUptiResult>(41);
constexpr auto kMiningDevice = static_cast<CUptiResult>(42);
constexpr auto kSharedMigInstance = static_cast<CUptiResult>(43);
constexpr auto kSliDevice = static_cast<CUptiResult>(44);
constexpr auto kWslDevice = static_cast<CUptiResult>(45);

// "CUPTI_ERROR_NOT_SUPPORTED"; "CUPTI_ERROR_<number>" for one that the library does not know.
std::string cupti_name(const CuptiApi& api, CUptiResult code);
// ok, or "text: CUPTI_ERROR_... (number)".
base::Status cupti_status(const CuptiApi& api, CUptiResult code, const char* text);
// The same failure with the word that names the state and what to do about it.
Availability cupti_failure(const CuptiApi& api, CUptiResult code, const char* text);
// The same, or available for success.
Availability cupti_outcome(const CuptiApi& api, CUptiResult code, const char* text);
// What a call would fail with for `code`, known before it is made. One that has a word.
Availability cupti_refusal(CUptiResult code, std::string detail);

// GPUFL_CUPTI(api, cuptiActivityEnable(kind)): the call's Status, with its text, the code's name
// and its number.
#define GPUFL_CUPTI(api, call_text) \
  ::gpufl::backend::cupti_status((api), (api).call_text, #call_text)

class CuptiLibrary {
 public:
  // cupti_library.hpp says which file. Null: `why` says why not.
  static std::shared_ptr<CuptiLibrary> open(Availability& why);

  const CuptiApi& api() const { return api_; }
  Availability has(const CuptiPart& part) const;
  uint32_t version() const { return version_; }
  std::string description() const;  // "CUPTI 13.0, /path/libcupti.so.13"

 private:
  explicit CuptiLibrary(base::DynamicLibrary library) : library_(std::move(library)) {}

  base::DynamicLibrary library_;
  CuptiApi api_;
  uint32_t version_ = 0;
};

}  // namespace gpufl::backend
