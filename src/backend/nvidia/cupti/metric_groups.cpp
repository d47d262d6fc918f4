// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/metric_groups.hpp"

#include <algorithm>
#include <utility>

#include "backend/metric_catalog.hpp"

namespace gpufl::backend {
namespace {

std::vector<const char*> names_of(const std::vector<std::string>& metrics) {
  std::vector<const char*> names;
  names.reserve(metrics.size());
  for (const std::string& metric : metrics) names.push_back(metric.c_str());
  return names;
}

}  // namespace

Availability read_chip_name(const CuptiApi& api, uint32_t ordinal, std::string& name) {
  CUpti_Device_GetChipName_Params asking{CUpti_Device_GetChipName_Params_STRUCT_SIZE, nullptr,
                                         ordinal, nullptr};
  const CUptiResult code = api.cuptiDeviceGetChipName(&asking);
  if (code == CUPTI_SUCCESS) name = asking.pChipName;
  return cupti_outcome(api, code, "cuptiDeviceGetChipName(&parameters)");
}

ProfilerHost::ProfilerHost(const CuptiApi& api, const CountingChip& chip) : api_(api) {
  CUpti_Profiler_Host_Initialize_Params parameters{
      CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
      nullptr,
      chip.type,
      chip.name.c_str(),
      chip.availability.empty() ? nullptr : chip.availability.data(),
      nullptr};
  result_ = api_.cuptiProfilerHostInitialize(&parameters);
  object_ = parameters.pHostObject;
}

ProfilerHost::~ProfilerHost() {
  if (result_ != CUPTI_SUCCESS) return;
  CUpti_Profiler_Host_Deinitialize_Params parameters{
      CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE, nullptr, object_};
  api_.cuptiProfilerHostDeinitialize(&parameters);
}

bool ProfilerHost::knows(const std::string& metric) const {
  CUpti_Profiler_Host_GetMetricProperties_Params parameters{
      CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE,
      nullptr,
      object_,
      metric.c_str(),
      nullptr,
      nullptr,
      nullptr,
      CUPTI_METRIC_TYPE_COUNTER};
  return api_.cuptiProfilerHostGetMetricProperties(&parameters) == CUPTI_SUCCESS;
}

std::optional<uint32_t> ProfilerHost::plan(const std::vector<std::string>& metrics,
                                           std::vector<uint8_t>& config) {
  std::vector<const char*> names = names_of(metrics);
  CUpti_Profiler_Host_ConfigAddMetrics_Params adding{
      CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE, nullptr, object_, names.data(),
      names.size()};
  CUpti_Profiler_Host_GetConfigImageSize_Params sizing{
      CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE, nullptr, object_, 0};
  if (api_.cuptiProfilerHostConfigAddMetrics(&adding) != CUPTI_SUCCESS ||
      api_.cuptiProfilerHostGetConfigImageSize(&sizing) != CUPTI_SUCCESS) {
    return std::nullopt;
  }
  config.assign(sizing.configImageSize, 0);
  CUpti_Profiler_Host_GetConfigImage_Params getting{
      CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE, nullptr, object_, config.size(),
      config.data()};
  CUpti_Profiler_Host_GetNumOfPasses_Params counting{
      CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE, nullptr, config.size(), config.data(),
      0};
  if (api_.cuptiProfilerHostGetConfigImage(&getting) != CUPTI_SUCCESS ||
      api_.cuptiProfilerHostGetNumOfPasses(&counting) != CUPTI_SUCCESS ||
      counting.numOfPasses == 0) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(counting.numOfPasses);
}

CUptiResult ProfilerHost::evaluate(const std::vector<std::string>& metrics,
                                   const std::vector<uint8_t>& image, size_t place,
                                   std::vector<double>& values) const {
  std::vector<const char*> names = names_of(metrics);
  values.assign(names.size(), 0);
  CUpti_Profiler_Host_EvaluateToGpuValues_Params parameters{
      CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE,
      nullptr,
      object_,
      image.data(),
      image.size(),
      place,
      names.data(),
      names.size(),
      values.data()};
  return api_.cuptiProfilerHostEvaluateToGpuValues(&parameters);
}

Availability MetricGroups::make(CountingChip chip, const std::vector<std::string>& wanted) {
  groups_.clear();
  unknown_.clear();
  chip_ = std::move(chip);
  if (const ProfilerHost host(api_, chip_); host.result() != CUPTI_SUCCESS) {
    return cupti_failure(api_, host.result(), "cuptiProfilerHostInitialize(&parameters)");
  }
  MetricGrouping grouping = group_metrics(
      wanted, [this](const std::vector<std::string>& metrics) { return passes(metrics); });
  unknown_ = std::move(grouping.unknown);
  for (CountedTogether& group : grouping.groups) {
    if (auto planned = plan(std::move(group.metrics))) groups_.push_back(std::move(*planned));
  }
  is_made_ = !groups_.empty();
  if (is_made_) return {true, "", "", ""};
  return {false, "unknown_metrics",
          chip_.name + " has none of the metrics that " + option_.name + " names",
          "name others, or a preset: " + preset_names(option_.presets)};
}

// By an object of their own: what is added to one stays in it.
std::optional<MetricGroup> MetricGroups::plan(std::vector<std::string> metrics) const {
  MetricGroup group{std::move(metrics), {}, 1, std::make_shared<ProfilerHost>(api_, chip_)};
  const auto is_known = [&](const std::string& metric) { return group.host->knows(metric); };
  if (group.host->result() != CUPTI_SUCCESS) return std::nullopt;
  if (!std::all_of(group.metrics.begin(), group.metrics.end(), is_known)) return std::nullopt;
  const std::optional<uint32_t> passes = group.host->plan(group.metrics, group.config);
  if (!passes) return std::nullopt;
  group.passes = *passes;
  return group;
}

std::optional<uint32_t> MetricGroups::passes(const std::vector<std::string>& metrics) const {
  const std::optional<MetricGroup> planned = plan(metrics);
  return planned ? std::optional(planned->passes) : std::nullopt;
}

// They may need fewer passes than one group after the other.
uint32_t MetricGroups::passes_together() const {
  std::vector<std::string> all;
  uint32_t one_by_one = 0;
  for (const MetricGroup& group : groups_) {
    all.insert(all.end(), group.metrics.begin(), group.metrics.end());
    one_by_one += group.passes;
  }
  return passes(all).value_or(one_by_one);
}

}  // namespace gpufl::backend
