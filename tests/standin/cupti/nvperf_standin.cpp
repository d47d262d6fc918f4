// SPDX-License-Identifier: Apache-2.0
// A libnvperf_host that knows one chip with a few metrics, and plans them as NVIDIA's does: two of
// those that one pass can count share it, the others need passes of their own.

#include <nvperf_cuda_host.h>
#include <nvperf_host.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct NVPW_MetricsEvaluator {};
struct NVPA_RawMetricsConfig {
  std::set<std::string> metrics;
  bool has_group = false, is_generated = false;
};

namespace {

constexpr const char* kChip = "GH100";

struct Metric {
  const char* name;
  const char* description;
  uint32_t hardware;
  size_t passes;
};
const std::vector<Metric> kMetrics[NVPW_METRIC_TYPE__COUNT] = {
    {{"sm__inst_executed", "# of warp instructions executed", 0, 1},
     {"dram__bytes_read", "# of bytes read from DRAM", 1, 1},
     {"sm__cycles_active", "# of cycles with at least one warp in flight", 0, 1}},
    {{"lts__t_sector_hit_rate", "proportion of L2 sector lookups that hit", 2, 2}},
    {{"sm__throughput", "SM throughput", 0, 8}}};
constexpr const char* kHardware[] = {"sm", "dram", "lts"};
constexpr const char* kRollups[] = {"avg", "max", "min", "sum"};
// By type, with NVIDIA's numbers.
const std::map<uint16_t, const char*> kSubmetrics[NVPW_METRIC_TYPE__COUNT] = {
    {{NVPW_SUBMETRIC_NONE, ""}, {NVPW_SUBMETRIC_PER_SECOND, "per_second"}},
    {{NVPW_SUBMETRIC_PCT, "pct"}},
    {{NVPW_SUBMETRIC_PCT_OF_PEAK_SUSTAINED_ELAPSED, "pct_of_peak_sustained_elapsed"}}};

NVPW_MetricsEvaluator g_evaluator;

const Metric* find(std::string_view base, uint8_t& type, size_t& index) {
  for (type = 0; type < NVPW_METRIC_TYPE__COUNT; ++type) {
    for (index = 0; index < kMetrics[type].size(); ++index) {
      if (kMetrics[type][index].name == base) return &kMetrics[type][index];
    }
  }
  return nullptr;
}

NVPA_Status done(bool is_done) {
  return is_done ? NVPA_STATUS_SUCCESS : NVPA_STATUS_INVALID_ARGUMENT;
}

// All names of a type, one after the other.
struct Names {
  std::string text;
  std::vector<size_t> begins;
};
const Names& names_of(uint8_t type) {
  static Names all[NVPW_METRIC_TYPE__COUNT];
  Names& names = all[type];
  if (!names.begins.empty()) return names;
  for (const Metric& metric : kMetrics[type]) {
    names.begins.push_back(names.text.size());
    names.text.append(metric.name).push_back('\0');
  }
  return names;
}

}  // namespace

#define STANDIN_EXPORT extern "C" __attribute__((visibility("default")))

STANDIN_EXPORT NVPA_Status NVPW_InitializeHost(NVPW_InitializeHost_Params* parameters) {
  return done(parameters->structSize == NVPW_InitializeHost_Params_STRUCT_SIZE);
}

STANDIN_EXPORT NVPA_Status
NVPW_GetSupportedChipNames(NVPW_GetSupportedChipNames_Params* parameters) {
  static constexpr const char* kChips[] = {kChip, "GB100"};
  parameters->ppChipNames = kChips;
  parameters->numChipNames = 2;
  return NVPA_STATUS_SUCCESS;
}

// Of one of the chips it has no metrics.
STANDIN_EXPORT NVPA_Status NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize(
    NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize_Params* parameters) {
  parameters->scratchBufferSize = 16;
  return done(std::strcmp(parameters->pChipName, kChip) == 0);
}

STANDIN_EXPORT NVPA_Status
NVPW_CUDA_MetricsEvaluator_Initialize(NVPW_CUDA_MetricsEvaluator_Initialize_Params* parameters) {
  parameters->pMetricsEvaluator = &g_evaluator;
  return done(parameters->scratchBufferSize >= 16);
}

STANDIN_EXPORT NVPA_Status
NVPW_MetricsEvaluator_Destroy(NVPW_MetricsEvaluator_Destroy_Params* parameters) {
  return done(parameters->pMetricsEvaluator == &g_evaluator);
}

STANDIN_EXPORT NVPA_Status
NVPW_MetricsEvaluator_GetMetricNames(NVPW_MetricsEvaluator_GetMetricNames_Params* parameters) {
  const Names& names = names_of(parameters->metricType);
  parameters->pMetricNames = names.text.data();
  parameters->pMetricNameBeginIndices = names.begins.data();
  parameters->numMetrics = names.begins.size();
  return NVPA_STATUS_SUCCESS;
}

STANDIN_EXPORT NVPA_Status NVPW_MetricsEvaluator_GetMetricTypeAndIndex(
    NVPW_MetricsEvaluator_GetMetricTypeAndIndex_Params* parameters) {
  return done(find(parameters->pMetricName, parameters->metricType, parameters->metricIndex) !=
              nullptr);
}

STANDIN_EXPORT NVPA_Status NVPW_MetricsEvaluator_GetSupportedSubmetrics(
    NVPW_MetricsEvaluator_GetSupportedSubmetrics_Params* parameters) {
  static std::vector<uint16_t> submetrics;
  submetrics.clear();
  for (const auto& [number, name] : kSubmetrics[parameters->metricType]) {
    submetrics.push_back(number);
  }
  parameters->pSupportedSubmetrics = submetrics.data();
  parameters->numSupportedSubmetrics = submetrics.size();
  return NVPA_STATUS_SUCCESS;
}

STANDIN_EXPORT NVPA_Status NVPW_MetricsEvaluator_GetCounterProperties(
    NVPW_MetricsEvaluator_GetCounterProperties_Params* parameters) {
  const Metric& metric = kMetrics[NVPW_METRIC_TYPE_COUNTER].at(parameters->counterIndex);
  parameters->pDescription = metric.description;
  parameters->hwUnit = metric.hardware;
  return NVPA_STATUS_SUCCESS;
}

STANDIN_EXPORT NVPA_Status NVPW_MetricsEvaluator_GetRatioMetricProperties(
    NVPW_MetricsEvaluator_GetRatioMetricProperties_Params* parameters) {
  const Metric& metric = kMetrics[NVPW_METRIC_TYPE_RATIO].at(parameters->ratioMetricIndex);
  parameters->pDescription = metric.description;
  parameters->hwUnit = metric.hardware;
  return NVPA_STATUS_SUCCESS;
}

STANDIN_EXPORT NVPA_Status NVPW_MetricsEvaluator_GetThroughputMetricProperties(
    NVPW_MetricsEvaluator_GetThroughputMetricProperties_Params* parameters) {
  const Metric& metric =
      kMetrics[NVPW_METRIC_TYPE_THROUGHPUT].at(parameters->throughputMetricIndex);
  parameters->pDescription = metric.description;
  parameters->hwUnit = metric.hardware;
  return NVPA_STATUS_SUCCESS;
}

STANDIN_EXPORT NVPA_Status
NVPW_MetricsEvaluator_HwUnitToString(NVPW_MetricsEvaluator_HwUnitToString_Params* parameters) {
  parameters->pHwUnitName = kHardware[parameters->hwUnit];
  return NVPA_STATUS_SUCCESS;
}

STANDIN_EXPORT NVPA_Status NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest(
    NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest_Params* parameters) {
  const std::string_view name = parameters->pMetricName;
  const size_t dot = name.find('.');
  NVPW_MetricEvalRequest& request = *parameters->pMetricEvalRequest;
  if (dot == std::string_view::npos ||
      find(name.substr(0, dot), request.metricType, request.metricIndex) == nullptr) {
    return NVPA_STATUS_INVALID_ARGUMENT;
  }
  std::string_view rest = name.substr(dot + 1);
  if (request.metricType != NVPW_METRIC_TYPE_RATIO) {
    bool has_rollup = false;
    for (size_t i = 0; i < std::size(kRollups) && !has_rollup; ++i) {
      has_rollup = rest.substr(0, 3) == kRollups[i];
      request.rollupOp = static_cast<uint8_t>(i);
    }
    if (!has_rollup) return NVPA_STATUS_INVALID_ARGUMENT;
    rest.remove_prefix(3);
    if (!rest.empty() && rest.front() == '.') rest.remove_prefix(1);
  }
  for (const auto& [number, submetric] : kSubmetrics[request.metricType]) {
    request.submetric = number;
    if (rest == submetric) return NVPA_STATUS_SUCCESS;
  }
  return NVPA_STATUS_INVALID_ARGUMENT;
}

// 0 is a byte, 1 a second, 2 a percent, 3 an instruction.
STANDIN_EXPORT NVPA_Status NVPW_MetricsEvaluator_GetMetricDimUnits(
    NVPW_MetricsEvaluator_GetMetricDimUnits_Params* parameters) {
  const NVPW_MetricEvalRequest& request = *parameters->pMetricEvalRequest;
  std::vector<NVPW_DimUnitFactor> factors;
  if (request.metricType != NVPW_METRIC_TYPE_COUNTER) {
    factors.push_back({2, 1});
  } else {
    factors.push_back({request.metricIndex == 1 ? 0U : 3U, 1});
    if (request.submetric == NVPW_SUBMETRIC_PER_SECOND) factors.push_back({1, -1});
  }
  if (parameters->pDimUnits != nullptr) {
    std::copy(factors.begin(), factors.end(), parameters->pDimUnits);
  }
  parameters->numDimUnits = factors.size();
  return NVPA_STATUS_SUCCESS;
}

STANDIN_EXPORT NVPA_Status
NVPW_MetricsEvaluator_DimUnitToString(NVPW_MetricsEvaluator_DimUnitToString_Params* parameters) {
  static constexpr const char* kUnits[] = {"byte", "second", "percent", "instruction"};
  parameters->pSingularName = parameters->pPluralName = kUnits[parameters->dimUnit];
  return NVPA_STATUS_SUCCESS;
}

STANDIN_EXPORT NVPA_Status NVPW_MetricsEvaluator_GetMetricRawDependencies(
    NVPW_MetricsEvaluator_GetMetricRawDependencies_Params* parameters) {
  const NVPW_MetricEvalRequest& request = *parameters->pMetricEvalRequests;
  if (parameters->ppRawDependencies != nullptr) {
    parameters->ppRawDependencies[0] = kMetrics[request.metricType].at(request.metricIndex).name;
  }
  parameters->numRawDependencies = 1;
  parameters->numOptionalRawDependencies = 0;
  return NVPA_STATUS_SUCCESS;
}

STANDIN_EXPORT NVPA_Status
NVPW_CUDA_RawMetricsConfig_Create_V2(NVPW_CUDA_RawMetricsConfig_Create_V2_Params* parameters) {
  const bool is_known = parameters->activityKind == NVPA_ACTIVITY_KIND_PROFILER ||
                        parameters->activityKind == NVPA_ACTIVITY_KIND_REALTIME_SAMPLED;
  if (is_known) parameters->pRawMetricsConfig = new NVPA_RawMetricsConfig;
  return done(is_known);
}

STANDIN_EXPORT NVPA_Status
NVPW_RawMetricsConfig_Destroy(NVPW_RawMetricsConfig_Destroy_Params* parameters) {
  delete parameters->pRawMetricsConfig;
  return NVPA_STATUS_SUCCESS;
}

STANDIN_EXPORT NVPA_Status
NVPW_RawMetricsConfig_BeginPassGroup(NVPW_RawMetricsConfig_BeginPassGroup_Params* parameters) {
  parameters->pRawMetricsConfig->has_group = true;
  return NVPA_STATUS_SUCCESS;
}

STANDIN_EXPORT NVPA_Status
NVPW_RawMetricsConfig_AddMetrics(NVPW_RawMetricsConfig_AddMetrics_Params* parameters) {
  NVPA_RawMetricsConfig& config = *parameters->pRawMetricsConfig;
  if (!config.has_group) return NVPA_STATUS_INVALID_OBJECT_STATE;
  for (size_t i = 0; i < parameters->numMetricRequests; ++i) {
    config.metrics.insert(parameters->pRawMetricRequests[i].pMetricName);
  }
  return NVPA_STATUS_SUCCESS;
}

STANDIN_EXPORT NVPA_Status
NVPW_RawMetricsConfig_EndPassGroup(NVPW_RawMetricsConfig_EndPassGroup_Params* parameters) {
  return done(std::exchange(parameters->pRawMetricsConfig->has_group, false));
}

STANDIN_EXPORT NVPA_Status NVPW_RawMetricsConfig_GenerateConfigImage(
    NVPW_RawMetricsConfig_GenerateConfigImage_Params* parameters) {
  NVPA_RawMetricsConfig& config = *parameters->pRawMetricsConfig;
  config.is_generated = !config.has_group;
  return done(config.is_generated);
}

STANDIN_EXPORT NVPA_Status
NVPW_RawMetricsConfig_GetNumPasses(NVPW_RawMetricsConfig_GetNumPasses_Params* parameters) {
  const NVPA_RawMetricsConfig& config = *parameters->pRawMetricsConfig;
  size_t singles = 0, passes = 0;
  for (const std::string& name : config.metrics) {
    uint8_t type = 0;
    size_t index = 0;
    const Metric* const metric = find(name, type, index);
    (metric->passes == 1 ? singles : passes) += metric->passes;
  }
  parameters->numPipelinedPasses = (singles + 1) / 2;
  parameters->numIsolatedPasses = passes;
  return done(config.is_generated);
}
