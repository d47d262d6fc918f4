// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/pm_device.hpp"

#include <algorithm>
#include <utility>

#include "backend/nvidia/cupti/timed_samples.hpp"

namespace gpufl::backend {
namespace {

// What the GPU writes down for a sample depends on its metrics and on the GPU; more than any set of
// one pass needs.
constexpr size_t kBytesOfSample = size_t{32} << 10;
constexpr size_t kLeastBuffer = size_t{16} << 20, kLargestBuffer = size_t{512} << 20;
// Decoding takes 17 to 29 us a sample. One decode, and so one read, is to be over long before a
// call counts as one that does not return.
constexpr uint32_t kMostOfDecode = 4096;
// Of one read: what is left comes with the next.
constexpr int64_t kLongestRead_ns = 200'000'000;
// Of the last ones: the program's launches may wait for them.
constexpr int64_t kLongestRest_ns = 1'000'000'000;

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ",").append(name);
  return text;
}

// GPUFL_PM_CALL(cuptiPmSamplingStart, parameters): returns what went wrong.
#define GPUFL_PM_CALL(function, parameters)                                           \
  if (const CUptiResult code = api_.function(&(parameters)); code != CUPTI_SUCCESS) { \
    return cupti_outcome(api_, code, #function "(&parameters)");                      \
  }

constexpr Availability all_well() { return {true, "", "", ""}; }

}  // namespace

PmDevice::PmDevice(const CuptiApi& api, uint32_t ordinal, const PmSamplingOptions& options,
                   PmReadings& readings)
    : api_(api),
      ordinal_(ordinal),
      interval_ns_(static_cast<uint64_t>(options.interval_ns)),
      max_samples_(options.max_samples),
      readings_(readings),
      groups_(api, pm_option()) {}

Availability PmDevice::plan(const std::vector<std::string>& wanted) {
  CUpti_Profiler_Initialize_Params initializing{CUpti_Profiler_Initialize_Params_STRUCT_SIZE,
                                                nullptr};
  GPUFL_PM_CALL(cuptiProfilerInitialize, initializing)
  CountingChip chip;
  chip.type = CUPTI_PROFILER_TYPE_PM_SAMPLING;
  if (Availability named = read_chip_name(api_, ordinal_, chip.name); !named.available) {
    return named;
  }
  if (!has_timed_samples(chip.name)) {
    return {false, "unsupported_gpu", chip.name + " " + kNoTimedSamples,
            "choose the engine RangeProfiler, which counts in scopes, or Trace"};
  }
  if (Availability asked = ask_availability(chip.availability); !asked.available) return asked;
  if (Availability made = groups_.make(std::move(chip), wanted); !made.available) return made;
  metrics_ = std::make_shared<const std::vector<std::string>>(groups_.groups().front().metrics);
  return check_passes();
}

Availability PmDevice::ask_availability(std::vector<uint8_t>& image) const {
  CUpti_PmSampling_GetCounterAvailability_Params asking{
      CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE, nullptr, ordinal_, 0, nullptr};
  GPUFL_PM_CALL(cuptiPmSamplingGetCounterAvailability, asking)
  image.assign(asking.counterAvailabilityImageSize, 0);
  asking.pCounterAvailabilityImage = image.data();
  GPUFL_PM_CALL(cuptiPmSamplingGetCounterAvailability, asking)
  return all_well();
}

// A sample is one pass: what needs several cannot be had.
Availability PmDevice::check_passes() const {
  const uint32_t passes = groups_.passes_together();
  if (passes == 1) return all_well();
  const MetricGroup& first = groups_.groups().front();
  std::string fits = "none of them fits into one";
  if (first.passes == 1) fits = "into one fit " + list_of(first.metrics);
  return {false, "several_passes",
          "the metrics for PM sampling need " + std::to_string(passes) +
              " passes, and a sample is one: " + fits,
          "name fewer metrics in pm_sampling_metrics (gpufl metrics describe says how many passes "
          "a set needs)"};
}

Availability PmDevice::start() {
  CUpti_PmSampling_Enable_Params enabling{CUpti_PmSampling_Enable_Params_STRUCT_SIZE, nullptr,
                                          ordinal_, nullptr};
  GPUFL_PM_CALL(cuptiPmSamplingEnable, enabling)
  object_ = enabling.pPmSamplingObject;
  is_enabled_ = true;
  awaits_first_ = true;
  is_full_ = false;
  read_ = 0;
  started_ns_ = base::monotonic_ns();
  Availability configured = configure();
  if (!configured.available) (void)disable();
  return configured;
}

Availability PmDevice::configure() {
  const MetricGroup& group = groups_.groups().front();
  std::vector<const char*> names;
  for (const std::string& metric : group.metrics) names.push_back(metric.c_str());
  CUpti_PmSampling_GetCounterDataSize_Params sizing{
      CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE,
      nullptr,
      object_,
      names.data(),
      names.size(),
      std::min(max_samples_, kMostOfDecode),
      0};
  GPUFL_PM_CALL(cuptiPmSamplingGetCounterDataSize, sizing)
  image_.assign(sizing.counterDataSize, 0);
  if (Availability made = initialize_image(); !made.available) return made;
  CUpti_PmSampling_SetConfig_Params setting{};
  setting.structSize = CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE;
  setting.pPmSamplingObject = object_;
  setting.configSize = group.config.size();
  setting.pConfig = group.config.data();
  setting.hardwareBufferSize =
      std::clamp(max_samples_ * kBytesOfSample, kLeastBuffer, kLargestBuffer);
  setting.samplingInterval = interval_ns_;
  setting.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  // A full buffer is said; the other mode loses samples in silence.
  setting.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  GPUFL_PM_CALL(cuptiPmSamplingSetConfig, setting)
  CUpti_PmSampling_Start_Params starting{CUpti_PmSampling_Start_Params_STRUCT_SIZE, nullptr,
                                         object_};
  started_ns_ = base::monotonic_ns();
  GPUFL_PM_CALL(cuptiPmSamplingStart, starting)
  return all_well();
}

Availability PmDevice::initialize_image() {
  CUpti_PmSampling_CounterDataImage_Initialize_Params preparing{
      CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE, nullptr, object_,
      image_.size(), image_.data()};
  GPUFL_PM_CALL(cuptiPmSamplingCounterDataImageInitialize, preparing)
  return all_well();
}

Availability PmDevice::read(Rest& rest) {
  const int64_t until_ns = base::monotonic_ns() + kLongestRead_ns;
  do {
    CUpti_PmSampling_DecodeData_Params decoding{CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE,
                                                nullptr,
                                                object_,
                                                image_.data(),
                                                image_.size(),
                                                CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER,
                                                0};
    const CUptiResult code = api_.cuptiPmSamplingDecodeData(&decoding);
    is_full_ = code == CUPTI_ERROR_OUT_OF_MEMORY || decoding.overflow != 0;
    if (code != CUPTI_SUCCESS && !is_full_) {
      return cupti_outcome(api_, code, "cuptiPmSamplingDecodeData(&parameters)");
    }
    if (code == CUPTI_SUCCESS) {
      if (Availability taken = take(); !taken.available) return taken;
    }
    if (is_full_) {
      readings_.note_full_buffer();
      rest = Rest::Lost;
      return all_well();
    }
    const bool has_more =
        decoding.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
    rest = has_more ? Rest::Some : Rest::None;
  } while (rest == Rest::Some && base::monotonic_ns() < until_ns);
  return all_well();
}

// What is in the image, which is empty afterwards.
Availability PmDevice::take() {
  CUpti_PmSampling_GetCounterDataInfo_Params counting{
      CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE,
      nullptr,
      image_.data(),
      image_.size(),
      0,
      0,
      0};
  GPUFL_PM_CALL(cuptiPmSamplingGetCounterDataInfo, counting)
  if (counting.numCompletedSamples == 0) return all_well();
  read_ += counting.numCompletedSamples;
  PmReading reading;
  reading.device = ordinal_;
  reading.started_ns = started_ns_;
  reading.metrics = metrics_;
  Availability outcome = all_well();
  for (size_t i = std::exchange(awaits_first_, false) ? 1 : 0;
       i < counting.numCompletedSamples && outcome.available; ++i) {
    outcome = append_sample(i, reading);
  }
  reading.read = base::read_clock_anchor();
  if (!reading.samples.empty()) readings_.put(std::move(reading));
  return outcome.available ? initialize_image() : outcome;
}

Availability PmDevice::append_sample(size_t place, PmReading& reading) {
  CUpti_PmSampling_CounterData_GetSampleInfo_Params asking{
      CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE,
      nullptr,
      object_,
      image_.data(),
      image_.size(),
      place,
      0,
      0};
  GPUFL_PM_CALL(cuptiPmSamplingCounterDataGetSampleInfo, asking)
  PmSample sample{asking.startTimestamp, asking.endTimestamp, {}};
  const MetricGroup& group = groups_.groups().front();
  const CUptiResult code = group.host->evaluate(group.metrics, image_, place, sample.values);
  if (code != CUPTI_SUCCESS) {
    return cupti_outcome(api_, code, "cuptiProfilerHostEvaluateToGpuValues(&parameters)");
  }
  reading.samples.push_back(std::move(sample));
  return all_well();
}

Availability PmDevice::stop() {
  CUpti_PmSampling_Stop_Params stopping{CUpti_PmSampling_Stop_Params_STRUCT_SIZE, nullptr, object_};
  GPUFL_PM_CALL(cuptiPmSamplingStop, stopping)
  const int64_t stopped_ns = base::monotonic_ns();
  Rest rest = is_full_ ? Rest::Lost : Rest::Some;
  Availability outcome = all_well();
  while (rest == Rest::Some && outcome.available &&
         base::monotonic_ns() - stopped_ns < kLongestRest_ns) {
    outcome = read(rest);
  }
  if (rest != Rest::Some) return outcome;
  const uint64_t taken = static_cast<uint64_t>(stopped_ns - started_ns_) / interval_ns_;
  if (taken > read_) readings_.note_dropped(taken - read_);
  return outcome;
}

Availability PmDevice::disable() {
  CUpti_PmSampling_Disable_Params disabling{CUpti_PmSampling_Disable_Params_STRUCT_SIZE, nullptr,
                                            object_};
  GPUFL_PM_CALL(cuptiPmSamplingDisable, disabling)
  is_enabled_ = false;
  return all_well();
}

#undef GPUFL_PM_CALL

}  // namespace gpufl::backend
