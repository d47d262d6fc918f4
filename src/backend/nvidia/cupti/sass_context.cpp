// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/sass_context.hpp"

#include <algorithm>

#include "backend/nvidia/cupti/metric_groups.hpp"
#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

constexpr Availability available() { return {true, "", "", ""}; }

// More than any program's kernels have together: CUPTI has one for each metric of an instruction.
constexpr size_t kMaxRecords = size_t{4} << 20;

}  // namespace

Availability SassDevice::configure(const std::vector<std::string>& wanted) {
  if (users_ != 0) {
    ++users_;
    return available();
  }
  std::vector<CUpti_SassMetrics_Config> configs;
  metrics_.clear();
  unknown_.clear();
  places_.clear();
  // Without it all that follows crashes.
  CUpti_Profiler_Initialize_Params initializing{CUpti_Profiler_Initialize_Params_STRUCT_SIZE,
                                                nullptr};
  if (const CUptiResult code = api_.cuptiProfilerInitialize(&initializing); code != CUPTI_SUCCESS) {
    return cupti_failure(api_, code, "cuptiProfilerInitialize(&parameters)");
  }
  std::string chip;
  if (Availability named = read_chip_name(api_, ordinal_, chip); !named.available) return named;
  for (const std::string& name : wanted) {
    CUpti_SassMetrics_GetProperties_Params asking{
        CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE,
        nullptr,
        chip.c_str(),
        name.c_str(),
        {}};
    if (api_.cuptiSassMetricsGetProperties(&asking) != CUPTI_SUCCESS) {
      unknown_.push_back(name);
      continue;
    }
    const auto [place, is_new] =
        places_.try_emplace(asking.metric.metricId, static_cast<uint32_t>(metrics_.size()));
    if (!is_new) continue;
    metrics_.push_back(name);
    configs.push_back({asking.metric.metricId, CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU});
  }
  if (configs.empty()) {
    return {false, "unknown_metrics",
            "GPU " + std::to_string(ordinal_) + " (" + chip +
                ") has none of the metrics that sass_metrics names",
            "name others, or a preset: " + preset_names(sass_option().presets)};
  }
  CUpti_SassMetricsSetConfig_Params setting{CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE, nullptr,
                                            configs.size(), configs.data(), ordinal_};
  const CUptiResult code = api_.cuptiSassMetricsSetConfig(&setting);
  if (code == CUPTI_SUCCESS) ++users_;
  if (code == CUPTI_ERROR_OUT_OF_MEMORY) {
    return {false, "counted_before",
            "this process has counted by instruction before, and CUPTI does so only once",
            "run the program again, for one session with that engine"};
  }
  return cupti_outcome(api_, code, "cuptiSassMetricsSetConfig(&parameters)");
}

void SassDevice::release() {
  if (users_ == 0 || --users_ != 0) return;
  CUpti_SassMetricsUnsetConfig_Params parameters{CUpti_SassMetricsUnsetConfig_Params_STRUCT_SIZE,
                                                 nullptr, ordinal_};
  api_.cuptiSassMetricsUnsetConfig(&parameters);
}

uint32_t SassDevice::place_of(uint64_t metric_id) const {
  const auto found = places_.find(metric_id);
  return found != places_.end() ? found->second : static_cast<uint32_t>(metrics_.size());
}

// CUPTI takes memory of the context that is current.
Availability SassContext::enable() {
  Availability made;
  contexts_of_.run_within(context(), [&] { made = enable_here(); });
  return made;
}

Availability SassContext::collect() {
  Availability made;
  contexts_of_.run_within(context(), [&] { made = read(); });
  return made;
}

Availability SassContext::disable() {
  Availability made;
  contexts_of_.run_within(context(), [&] { made = disable_here(); });
  return made;
}

Availability SassContext::enable_here() {
  if (Availability set = counted_.configure(wanted_); !set.available) return set;
  // Lazily: a kernel's code is changed at its first launch, so that only what runs is.
  CUpti_SassMetricsEnable_Params parameters{CUpti_SassMetricsEnable_Params_STRUCT_SIZE, nullptr,
                                            context(), 1};
  const CUptiResult code = api_.cuptiSassMetricsEnable(&parameters);
  if (code != CUPTI_SUCCESS) counted_.release();
  return cupti_outcome(api_, code, "cuptiSassMetricsEnable(&parameters)");
}

Availability SassContext::disable_here() {
  CUpti_SassMetricsDisable_Params parameters{CUpti_SassMetricsDisable_Params_STRUCT_SIZE, nullptr,
                                             context(), 0};
  const CUptiResult code = api_.cuptiSassMetricsDisable(&parameters);
  counted_.release();
  return cupti_outcome(api_, code, "cuptiSassMetricsDisable(&parameters)");
}

Availability SassContext::read() {
  wait_for_gpu();
  CUpti_SassMetricsGetDataProperties_Params asking{
      CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE, nullptr, context(), 0, 0};
  CUptiResult code = api_.cuptiSassMetricsGetDataProperties(&asking);
  if (code != CUPTI_SUCCESS) {
    return cupti_outcome(api_, code, "cuptiSassMetricsGetDataProperties(&parameters)");
  }
  const size_t records = std::min(asking.numOfPatchedInstructionRecords, kMaxRecords);
  if (records == 0) return available();
  SassReading reading;
  reading.device = device();
  reading.context = id();
  reading.time_ns = base::monotonic_ns();
  reading.metrics = counted_.metrics();
  reading.dropped = asking.numOfPatchedInstructionRecords - records;
  code = take(reading, records, asking.numOfInstances);
  if (code != CUPTI_SUCCESS)
    return cupti_outcome(api_, code, "cuptiSassMetricsFlushData(&parameters)");
  readings_.put(std::move(reading));
  return available();
}

CUptiResult SassContext::take(SassReading& reading, size_t records, size_t instances) {
  std::vector<CUpti_SassMetrics_InstanceValue> values(records * instances);
  std::vector<CUpti_SassMetrics_Data> data(records);
  for (size_t i = 0; i < records; ++i) {
    data[i].structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE;
    data[i].pInstanceValues = &values[i * instances];
  }
  CUpti_SassMetricsFlushData_Params taking{CUpti_SassMetricsFlushData_Params_STRUCT_SIZE,
                                           nullptr,
                                           context(),
                                           records,
                                           instances,
                                           data.data()};
  if (const CUptiResult code = api_.cuptiSassMetricsFlushData(&taking); code != CUPTI_SUCCESS) {
    return code;
  }
  std::unordered_map<std::string, uint32_t> functions;
  for (const CUpti_SassMetrics_Data& record : data) {
    const char* const name = record.functionName != nullptr ? record.functionName : "";
    const auto [function, is_new] =
        functions.try_emplace(name, static_cast<uint32_t>(reading.functions.size()));
    if (is_new) reading.functions.emplace_back(name);
    for (size_t k = 0; k < instances; ++k) {
      const CUpti_SassMetrics_InstanceValue& counted = record.pInstanceValues[k];
      const uint32_t metric = counted_.place_of(counted.metricId);
      if (counted.value == 0 || metric == reading.metrics.size()) continue;
      reading.values.push_back(
          {record.cubinCrc, record.pcOffset, function->second, metric, counted.value});
    }
  }
  return CUPTI_SUCCESS;
}

}  // namespace gpufl::backend
