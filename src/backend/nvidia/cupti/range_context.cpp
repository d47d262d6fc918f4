// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/range_context.hpp"

namespace gpufl::backend {
namespace {

// GPUFL_RANGE_CALL(cuptiRangeProfilerStart, parameters): returns what went wrong.
#define GPUFL_RANGE_CALL(function, parameters)                                        \
  if (const CUptiResult code = api_.function(&(parameters)); code != CUPTI_SUCCESS) { \
    return cupti_outcome(api_, code, #function "(&parameters)");                      \
  }

}  // namespace

// CUPTI takes memory of the context that is current.
Availability RangeContext::enable() {
  Availability made;
  contexts_of_.run_within(context(), [&] { made = enable_here(); });
  return made;
}

Availability RangeContext::disable() {
  Availability made;
  contexts_of_.run_within(context(), [&] { made = disable_here(); });
  return made;
}

Availability RangeContext::open(const std::string& name, const MetricGroup& group, bool is_first) {
  Availability made;
  contexts_of_.run_within(context(), [&] { made = open_here(name, group, is_first); });
  return made;
}

Availability RangeContext::close(bool& is_group_done) {
  Availability made;
  contexts_of_.run_within(context(), [&] { made = close_here(is_group_done); });
  return made;
}

Availability RangeContext::enable_here() {
  CUpti_Profiler_Initialize_Params initializing{CUpti_Profiler_Initialize_Params_STRUCT_SIZE,
                                                nullptr};
  GPUFL_RANGE_CALL(cuptiProfilerInitialize, initializing)
  CUpti_RangeProfiler_Enable_Params enabling{CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE, nullptr,
                                             context(), nullptr};
  GPUFL_RANGE_CALL(cuptiRangeProfilerEnable, enabling)
  object_ = enabling.pRangeProfilerObject;
  return {true, "", "", ""};
}

Availability RangeContext::disable_here() {
  bool is_thrown_away = false;
  if (is_open_) (void)close_here(is_thrown_away);
  CUpti_RangeProfiler_Disable_Params disabling{CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
                                               nullptr, object_};
  GPUFL_RANGE_CALL(cuptiRangeProfilerDisable, disabling)
  return {true, "", "", ""};
}

Availability RangeContext::configure(const MetricGroup& group) {
  std::vector<const char*> names;
  for (const std::string& metric : group.metrics) names.push_back(metric.c_str());
  CUpti_RangeProfiler_GetCounterDataSize_Params sizing{
      CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
      nullptr,
      object_,
      names.data(),
      names.size(),
      1,
      1,
      0};
  GPUFL_RANGE_CALL(cuptiRangeProfilerGetCounterDataSize, sizing)
  image_.assign(sizing.counterDataSize, 0);
  CUpti_RangeProfiler_CounterDataImage_Initialize_Params preparing{
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE, nullptr, object_,
      image_.size(), image_.data()};
  GPUFL_RANGE_CALL(cuptiRangeProfilerCounterDataImageInitialize, preparing)
  CUpti_RangeProfiler_SetConfig_Params setting{};
  setting.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE;
  setting.pRangeProfilerObject = object_;
  setting.configSize = group.config.size();
  setting.pConfig = group.config.data();
  setting.counterDataImageSize = image_.size();
  setting.pCounterDataImage = image_.data();
  setting.range = CUPTI_UserRange;
  setting.replayMode = CUPTI_UserReplay;
  setting.maxRangesPerPass = setting.numNestingLevels = 1;
  setting.minNestingLevel = setting.targetNestingLevel = 1;
  GPUFL_RANGE_CALL(cuptiRangeProfilerSetConfig, setting)
  return {true, "", "", ""};
}

Availability RangeContext::open_here(const std::string& name, const MetricGroup& group,
                                     bool is_first) {
  if (is_first) {
    if (Availability configured = configure(group); !configured.available) return configured;
  }
  CUpti_RangeProfiler_Start_Params starting{CUpti_RangeProfiler_Start_Params_STRUCT_SIZE, nullptr,
                                            object_};
  GPUFL_RANGE_CALL(cuptiRangeProfilerStart, starting)
  is_open_ = true;
  CUpti_RangeProfiler_PushRange_Params pushing{CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE,
                                               nullptr, object_, name.c_str()};
  GPUFL_RANGE_CALL(cuptiRangeProfilerPushRange, pushing)
  return {true, "", "", ""};
}

Availability RangeContext::close_here(bool& is_group_done) {
  is_open_ = false;
  CUpti_RangeProfiler_PopRange_Params popping{CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE,
                                              nullptr, object_};
  GPUFL_RANGE_CALL(cuptiRangeProfilerPopRange, popping)
  CUpti_RangeProfiler_Stop_Params stopping{
      CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE, nullptr, object_, 0, 0, 0};
  GPUFL_RANGE_CALL(cuptiRangeProfilerStop, stopping)
  is_group_done = stopping.isAllPassSubmitted != 0;
  if (!is_group_done) return {true, "", "", ""};
  CUpti_RangeProfiler_DecodeData_Params decoding{CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
                                                 nullptr, object_, 0};
  GPUFL_RANGE_CALL(cuptiRangeProfilerDecodeData, decoding)
  return {true, "", "", ""};
}

#undef GPUFL_RANGE_CALL

}  // namespace gpufl::backend
