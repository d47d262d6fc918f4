// SPDX-License-Identifier: Apache-2.0
#include "tests/standin/cupti/standin_pm_sampling.hpp"

#include <cupti_pmsampling.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <thread>

#include "tests/standin/cupti/standin_library.hpp"

// CUPTI names it and says no more.
struct CUpti_PmSampling_Object {
  size_t device = 0;
  uint64_t interval = 0;
  bool is_configured = false, is_started = false, is_filling = false;
  uint64_t decoded = 0;
  uint64_t begun = 0, last_end = 0;  // the GPU's clock
  uint64_t tenths_before = 0;
};

namespace gpufl::standin {
namespace {

struct PmSampling {
  std::mutex mutex;
  std::condition_variable cv;
  std::map<size_t, std::unique_ptr<CUpti_PmSampling_Object>> objects;
  int64_t ahead_ns = 0;
  uint64_t interval = 0;
  std::map<size_t, CUptiResult> refusals;
  uint64_t filled_after = 0;
  uint32_t us_of_sample = 0;
  uint32_t fills = 0, started = 0, stopped = 0;
  std::string hanging;
};

// Never destroyed: threads of the test may outlive main().
PmSampling& pm() {
  static auto* const one = new PmSampling;
  return *one;
}

std::unique_lock<std::mutex> begin_pm_call(const char* function) {
  std::unique_lock lock(pm().mutex);
  pm().cv.wait(lock, [&] { return pm().hanging != function; });
  return lock;
}

uint64_t gpu_now() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * kSecondNs + static_cast<uint64_t>(t.tv_nsec) +
         static_cast<uint64_t>(pm().ahead_ns);
}

// An image of counters: how many kernels ran in each sample, when each began and ended, and how
// many samples there are.
class Image {
 public:
  static constexpr size_t kOfSample = sizeof(double) + 2 * sizeof(uint64_t);
  static size_t bytes(uint32_t samples) { return samples * kOfSample + sizeof(uint64_t); }

  Image(const uint8_t* data, size_t bytes)
      : data_(const_cast<uint8_t*>(data)), most_((bytes - sizeof(uint64_t)) / kOfSample) {}
  uint64_t count() const { return get<uint64_t>(most_ * kOfSample); }
  uint64_t most() const { return most_; }
  void clear() { put(most_ * kOfSample, uint64_t{0}); }
  void add(double kernels, uint64_t begin, uint64_t end) {
    const uint64_t place = count();
    put(place * sizeof kernels, kernels);
    put(stamps(place), begin);
    put(stamps(place) + sizeof begin, end);
    put(most_ * kOfSample, place + 1);
  }
  uint64_t begin(size_t place) const { return get<uint64_t>(stamps(place)); }
  uint64_t end(size_t place) const { return get<uint64_t>(stamps(place) + sizeof(uint64_t)); }

 private:
  size_t stamps(size_t place) const {
    return most_ * sizeof(double) + place * 2 * sizeof(uint64_t);
  }
  template <typename T>
  T get(size_t at) const {
    T value;
    std::memcpy(&value, data_ + at, sizeof value);
    return value;
  }
  template <typename T>
  void put(size_t at, T value) {
    std::memcpy(data_ + at, &value, sizeof value);
  }

  uint8_t* const data_;
  const size_t most_;
};

void reset() {
  const std::lock_guard lock(pm().mutex);
  PmSampling& state = pm();
  state.objects.clear();
  library().pm_sampled = 0;
  library().chip = "GH100";
  state.ahead_ns = 0;
  state.interval = 0;
  state.refusals.clear();
  state.us_of_sample = 0;
  state.fills = state.started = state.stopped = 0;
  state.hanging.clear();
}

void fill_buffer(uint32_t times, uint64_t samples) {
  const std::lock_guard lock(pm().mutex);
  pm().fills = times;
  pm().filled_after = samples;
}

void refuse(uint32_t device, int result) {
  const std::lock_guard lock(pm().mutex);
  pm().refusals[device] = static_cast<CUptiResult>(result);
}

void set_chip(const char* name) {
  const std::lock_guard lock(pm().mutex);
  library().chip = name;
}

void fill_now() {
  const std::lock_guard lock(pm().mutex);
  pm().filled_after = 0;
  for (const auto& [device, object] : pm().objects) object->is_filling = true;
}

void slow_down(uint32_t us_of_sample) {
  const std::lock_guard lock(pm().mutex);
  pm().us_of_sample = us_of_sample;
}

void set_clock(int64_t ahead_ns) {
  const std::lock_guard lock(pm().mutex);
  pm().ahead_ns = ahead_ns;
}

uint32_t enabled() { return library().pm_sampled; }

template <auto PmSampling::* kValue>
auto value_of() {
  const std::lock_guard lock(pm().mutex);
  return pm().*kValue;
}

void hang(const char* function) {
  const std::lock_guard lock(pm().mutex);
  pm().hanging = function != nullptr ? function : "";
  pm().cv.notify_all();
}

constexpr CuptiStandinPmSampling kPmSampling = {reset,
                                                fill_buffer,
                                                refuse,
                                                set_chip,
                                                fill_now,
                                                slow_down,
                                                set_clock,
                                                enabled,
                                                value_of<&PmSampling::started>,
                                                value_of<&PmSampling::stopped>,
                                                value_of<&PmSampling::interval>,
                                                hang};

}  // namespace
}  // namespace gpufl::standin

using namespace gpufl::standin;

#define STANDIN_EXPORT extern "C" __attribute__((visibility("default")))
#define STANDIN_PM_CALL(function) \
  {                               \
    STANDIN_MAY_FAIL(function);   \
  }                               \
  const auto call = begin_pm_call(#function)

STANDIN_EXPORT const CuptiStandinPmSampling* cupti_standin_pm_sampling() { return &kPmSampling; }

STANDIN_EXPORT CUptiResult
cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params* parameters) {
  STANDIN_PM_CALL(cuptiPmSamplingGetCounterAvailability);
  if (!library().is_profiler_initialized) return CUPTI_ERROR_NOT_INITIALIZED;
  if (pm().objects.contains(parameters->deviceIndex)) return CUPTI_ERROR_HARDWARE_BUSY;
  parameters->counterAvailabilityImageSize = 1;
  if (parameters->pCounterAvailabilityImage != nullptr) {
    *parameters->pCounterAvailabilityImage = 1;
  }
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* parameters) {
  STANDIN_PM_CALL(cuptiPmSamplingEnable);
  if (!library().is_profiler_initialized) return CUPTI_ERROR_NOT_INITIALIZED;
  if (library().pc_sampled != 0) return CUPTI_ERROR_HARDWARE_BUSY;
  if (const auto refused = pm().refusals.find(parameters->deviceIndex);
      refused != pm().refusals.end()) {
    return refused->second;
  }
  auto& object = pm().objects[parameters->deviceIndex];
  if (object != nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  object = std::make_unique<CUpti_PmSampling_Object>();
  object->device = parameters->deviceIndex;
  parameters->pPmSamplingObject = object.get();
  ++library().pm_sampled;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params* parameters) {
  STANDIN_PM_CALL(cuptiPmSamplingDisable);
  if (parameters->pPmSamplingObject->is_started) return CUPTI_ERROR_INVALID_OPERATION;
  pm().objects.erase(parameters->pPmSamplingObject->device);
  --library().pm_sampled;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* parameters) {
  STANDIN_PM_CALL(cuptiPmSamplingGetCounterDataSize);
  parameters->counterDataSize = Image::bytes(parameters->maxSamples);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiPmSamplingCounterDataImageInitialize(
    CUpti_PmSampling_CounterDataImage_Initialize_Params* parameters) {
  STANDIN_PM_CALL(cuptiPmSamplingCounterDataImageInitialize);
  Image(parameters->pCounterData, parameters->counterDataSize).clear();
  return CUPTI_SUCCESS;
}

// An image of a plan is the number of its passes.
STANDIN_EXPORT CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* parameters) {
  STANDIN_PM_CALL(cuptiPmSamplingSetConfig);
  if (parameters->configSize != 1 || parameters->hardwareBufferSize == 0 ||
      parameters->samplingInterval == 0 ||
      parameters->triggerMode != CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (parameters->pConfig[0] != 1) return CUPTI_ERROR_NOT_SUPPORTED;
  CUpti_PmSampling_Object& object = *parameters->pPmSamplingObject;
  object.is_configured = true;
  object.interval = pm().interval = parameters->samplingInterval;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* parameters) {
  const uint64_t tenths = tenths_of_kernels();
  STANDIN_PM_CALL(cuptiPmSamplingStart);
  CUpti_PmSampling_Object& object = *parameters->pPmSamplingObject;
  if (!object.is_configured || object.is_started) return CUPTI_ERROR_INVALID_OPERATION;
  object.is_started = true;
  object.begun = object.last_end = gpu_now();
  object.tenths_before = tenths;
  object.decoded = 0;
  object.is_filling = pm().fills != 0;
  if (object.is_filling) --pm().fills;
  ++pm().started;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* parameters) {
  STANDIN_PM_CALL(cuptiPmSamplingStop);
  CUpti_PmSampling_Object& object = *parameters->pPmSamplingObject;
  if (!object.is_started) return CUPTI_ERROR_INVALID_OPERATION;
  object.is_started = false;
  ++pm().stopped;
  return CUPTI_SUCCESS;
}

// What ran since the last time is in the newest sample, but never in the first.
STANDIN_EXPORT CUptiResult
cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* parameters) {
  constexpr uint64_t kLongBefore = 10 * kSecondNs;
  const uint64_t tenths = tenths_of_kernels();
  STANDIN_PM_CALL(cuptiPmSamplingDecodeData);
  CUpti_PmSampling_Object& object = *parameters->pPmSamplingObject;
  parameters->overflow = 0;
  if (object.is_filling && object.decoded >= pm().filled_after) return CUPTI_ERROR_OUT_OF_MEMORY;
  Image image(parameters->pCounterDataImage, parameters->counterDataImageSize);
  const uint64_t now_ns = gpu_now();
  while (object.last_end + object.interval <= now_ns && image.count() < image.most()) {
    const bool is_first = object.last_end == object.begun;
    const uint64_t begin = object.last_end, end = begin + object.interval;
    const bool is_newest = end + object.interval > now_ns || image.count() + 1 == image.most();
    const uint64_t ran = is_newest && !is_first ? tenths - object.tenths_before : 0;
    image.add(static_cast<double>(ran) / 10, is_first ? begin - kLongBefore : begin, end);
    object.tenths_before += ran;
    object.last_end = end;
    ++object.decoded;
    std::this_thread::sleep_for(std::chrono::microseconds(pm().us_of_sample));
  }
  parameters->decodeStopReason = image.count() == image.most()
                                     ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                                     : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* parameters) {
  STANDIN_PM_CALL(cuptiPmSamplingGetCounterDataInfo);
  const Image image(parameters->pCounterDataImage, parameters->counterDataImageSize);
  parameters->numTotalSamples = image.most();
  parameters->numPopulatedSamples = parameters->numCompletedSamples = image.count();
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(
    CUpti_PmSampling_CounterData_GetSampleInfo_Params* parameters) {
  STANDIN_PM_CALL(cuptiPmSamplingCounterDataGetSampleInfo);
  const Image image(parameters->pCounterDataImage, parameters->counterDataImageSize);
  if (parameters->sampleIndex >= image.count()) return CUPTI_ERROR_INVALID_PARAMETER;
  parameters->startTimestamp = image.begin(parameters->sampleIndex);
  parameters->endTimestamp = image.end(parameters->sampleIndex);
  return CUPTI_SUCCESS;
}
