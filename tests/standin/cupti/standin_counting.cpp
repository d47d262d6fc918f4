// SPDX-License-Identifier: Apache-2.0
#include "tests/standin/cupti/standin_counting.hpp"

#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>

#include "tests/standin/cupti/standin_library.hpp"

namespace gpufl::standin {
namespace {

struct Counting {
  std::mutex mutex;
  std::condition_variable cv;
  std::vector<CountedInstruction> instructions;
  std::map<uint32_t, std::vector<uint64_t>> configs;  // by GPU
  std::set<uint32_t> spent;                           // GPUs that were configured
  std::map<CUcontext, uint64_t> since;                // by context, kernels that had run
  std::deque<std::string> names;                      // of functions, which CUPTI never frees
  std::string lost;
  uint32_t metrics = 0;
  bool hangs = false;
};

Counting& counting() {
  static auto* const one = new Counting;
  return *one;
}

uint64_t id_of(std::string_view metric) { return std::hash<std::string_view>{}(metric); }

uint64_t kernels_run() {
  const std::lock_guard lock(library().mutex);
  return library().unrecorded_kernels;
}

std::vector<const CountedInstruction*> counted_instructions(const Counting& state) {
  std::vector<const CountedInstruction*> counted;
  if (state.configs.empty()) return counted;
  const std::vector<uint64_t>& config = state.configs.begin()->second;
  for (const CountedInstruction& one : state.instructions) {
    const bool is_counted = std::count(config.begin(), config.end(), id_of(one.metric)) != 0;
    if (is_counted) counted.push_back(&one);
  }
  return counted;
}

void reset() {
  const std::lock_guard lock(counting().mutex);
  Counting& state = counting();
  state.instructions.clear();
  state.configs.clear();
  state.spent.clear();
  state.since.clear();
  state.lost.clear();
  state.hangs = false;
}

void set_instructions(const CountedInstruction* instructions, uint32_t count) {
  const std::lock_guard lock(counting().mutex);
  counting().instructions.assign(instructions, instructions + count);
}

uint32_t enabled() {
  const std::lock_guard lock(counting().mutex);
  return static_cast<uint32_t>(counting().since.size());
}

uint32_t configured() {
  const std::lock_guard lock(counting().mutex);
  return static_cast<uint32_t>(counting().configs.size());
}

uint32_t metrics() {
  const std::lock_guard lock(counting().mutex);
  return counting().metrics;
}

void lose_metric(const char* name) {
  const std::lock_guard lock(counting().mutex);
  counting().lost = name != nullptr ? name : "";
}

void hang(bool hangs) {
  const std::lock_guard lock(counting().mutex);
  counting().hangs = hangs;
  counting().cv.notify_all();
}

constexpr CuptiStandinCounting kCounting = {reset,   set_instructions, enabled, configured,
                                            metrics, lose_metric,      hang};

}  // namespace
}  // namespace gpufl::standin

using namespace gpufl::standin;

#define STANDIN_EXPORT extern "C" __attribute__((visibility("default")))
#define STANDIN_COUNTING_CALL(function) \
  {                                     \
    STANDIN_MAY_FAIL(function);         \
  }                                     \
  std::unique_lock call(counting().mutex)

STANDIN_EXPORT const CuptiStandinCounting* cupti_standin_counting() { return &kCounting; }

STANDIN_EXPORT CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* parameters) {
  STANDIN_MAY_FAIL(cuptiDeviceGetChipName);
  parameters->pChipName = library().chip.c_str();
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiSassMetricsGetProperties(CUpti_SassMetrics_GetProperties_Params* parameters) {
  STANDIN_COUNTING_CALL(cuptiSassMetricsGetProperties);
  const std::string_view name = parameters->pMetricName;
  if (!name.starts_with("smsp__sass_") || name == counting().lost) {
    return CUPTI_ERROR_INVALID_METRIC_NAME;
  }
  parameters->metric.metricId = id_of(name);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiSassMetricsSetConfig(CUpti_SassMetricsSetConfig_Params* parameters) {
  STANDIN_COUNTING_CALL(cuptiSassMetricsSetConfig);
  Counting& state = counting();
  const uint32_t gpu = parameters->deviceIndex;
  if (state.configs.count(gpu) != 0) return CUPTI_ERROR_INVALID_OPERATION;
  if (!state.spent.insert(gpu).second) return CUPTI_ERROR_OUT_OF_MEMORY;
  std::vector<uint64_t>& config = state.configs[gpu];
  for (size_t i = 0; i < parameters->numOfMetricConfig; ++i) {
    config.push_back(parameters->pConfigs[i].metricId);
  }
  state.metrics = static_cast<uint32_t>(config.size());
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiSassMetricsUnsetConfig(CUpti_SassMetricsUnsetConfig_Params* parameters) {
  STANDIN_COUNTING_CALL(cuptiSassMetricsUnsetConfig);
  const bool was_set = counting().configs.erase(parameters->deviceIndex) != 0;
  return was_set ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

STANDIN_EXPORT CUptiResult cuptiSassMetricsEnable(CUpti_SassMetricsEnable_Params* parameters) {
  const uint64_t run = kernels_run();
  STANDIN_COUNTING_CALL(cuptiSassMetricsEnable);
  Counting& state = counting();
  if (state.configs.empty()) return CUPTI_ERROR_INVALID_OPERATION;
  const bool is_new = state.since.try_emplace(parameters->ctx, run).second;
  return is_new ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

STANDIN_EXPORT CUptiResult cuptiSassMetricsDisable(CUpti_SassMetricsDisable_Params* parameters) {
  STANDIN_COUNTING_CALL(cuptiSassMetricsDisable);
  const bool was_on = counting().since.erase(parameters->ctx) != 0;
  return was_on ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

STANDIN_EXPORT CUptiResult
cuptiSassMetricsGetDataProperties(CUpti_SassMetricsGetDataProperties_Params* parameters) {
  STANDIN_COUNTING_CALL(cuptiSassMetricsGetDataProperties);
  if (counting().since.count(parameters->ctx) == 0) return CUPTI_ERROR_INVALID_OPERATION;
  parameters->numOfPatchedInstructionRecords = counted_instructions(counting()).size();
  parameters->numOfInstances = 1;
  return CUPTI_SUCCESS;
}

// One for each instruction and metric, as far as it is configured.
STANDIN_EXPORT CUptiResult
cuptiSassMetricsFlushData(CUpti_SassMetricsFlushData_Params* parameters) {
  const uint64_t run = kernels_run();
  STANDIN_COUNTING_CALL(cuptiSassMetricsFlushData);
  Counting& state = counting();
  state.cv.wait(call, [&] { return !state.hangs; });
  const auto since = state.since.find(parameters->ctx);
  if (since == state.since.end()) return CUPTI_ERROR_INVALID_OPERATION;
  CUpti_SassMetrics_Data* data = parameters->pMetricsData;
  for (const CountedInstruction* one : counted_instructions(state)) {
    state.names.emplace_back(one->function);
    data->functionName = state.names.back().c_str();
    data->cubinCrc = one->module;
    data->pcOffset = one->pc;
    data->pInstanceValues[0] = {id_of(one->metric), one->value * (run - since->second)};
    ++data;
  }
  since->second = run;
  return CUPTI_SUCCESS;
}
