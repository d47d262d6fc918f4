// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvperf/nvperf_chip.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "backend/nvidia/cupti/timed_samples.hpp"

namespace gpufl::backend {
namespace {

constexpr const char* kKinds[] = {"counter", "ratio", "throughput"};
constexpr const char* kRollups[] = {"avg", "max", "min", "sum"};

// By NVPW_Submetric, as NVIDIA's names have them. Those of a newer library are left out.
constexpr const char* kSubmetrics[] = {"",
                                       "peak_sustained",
                                       "peak_sustained_active",
                                       "peak_sustained_active.per_second",
                                       "peak_sustained_elapsed",
                                       "peak_sustained_elapsed.per_second",
                                       "peak_sustained_frame",
                                       "peak_sustained_frame.per_second",
                                       "peak_sustained_region",
                                       "peak_sustained_region.per_second",
                                       "per_cycle_active",
                                       "per_cycle_elapsed",
                                       "per_cycle_in_frame",
                                       "per_cycle_in_region",
                                       "per_second",
                                       "pct_of_peak_sustained_active",
                                       "pct_of_peak_sustained_elapsed",
                                       "pct_of_peak_sustained_frame",
                                       "pct_of_peak_sustained_region",
                                       "max_rate",
                                       "pct",
                                       "ratio"};

std::string base_of(const std::string& metric) { return metric.substr(0, metric.find('.')); }

NVPA_ActivityKind activity_of(CountedBy by) {
  return by == CountedBy::Time ? NVPA_ACTIVITY_KIND_REALTIME_SAMPLED : NVPA_ACTIVITY_KIND_PROFILER;
}

// NVIDIA's plan for a set, on its way to the number of passes.
class RawConfig {
 public:
  RawConfig(const NvperfApi& api, const std::string& chip, CountedBy by) : api_(api) {
    NVPW_CUDA_RawMetricsConfig_Create_V2_Params parameters{
        NVPW_CUDA_RawMetricsConfig_Create_V2_Params_STRUCT_SIZE,
        nullptr,
        activity_of(by),
        chip.c_str(),
        nullptr,
        nullptr};
    if (api_.NVPW_CUDA_RawMetricsConfig_Create_V2(&parameters) == NVPA_STATUS_SUCCESS) {
      config_ = parameters.pRawMetricsConfig;
    }
  }
  ~RawConfig() {
    if (config_ == nullptr) return;
    NVPW_RawMetricsConfig_Destroy_Params parameters{
        NVPW_RawMetricsConfig_Destroy_Params_STRUCT_SIZE, nullptr, config_};
    api_.NVPW_RawMetricsConfig_Destroy(&parameters);
  }
  RawConfig(const RawConfig&) = delete;
  RawConfig& operator=(const RawConfig&) = delete;

  std::optional<uint32_t> passes(const std::vector<NVPA_RawMetricRequest>& requests) {
    if (config_ == nullptr) return std::nullopt;
    NVPW_RawMetricsConfig_BeginPassGroup_Params beginning{
        NVPW_RawMetricsConfig_BeginPassGroup_Params_STRUCT_SIZE, nullptr, config_, SIZE_MAX};
    NVPW_RawMetricsConfig_AddMetrics_Params adding{
        NVPW_RawMetricsConfig_AddMetrics_Params_STRUCT_SIZE, nullptr, config_, requests.data(),
        requests.size()};
    NVPW_RawMetricsConfig_EndPassGroup_Params ending{
        NVPW_RawMetricsConfig_EndPassGroup_Params_STRUCT_SIZE, nullptr, config_};
    NVPW_RawMetricsConfig_GenerateConfigImage_Params generating{
        NVPW_RawMetricsConfig_GenerateConfigImage_Params_STRUCT_SIZE, nullptr, config_, 0};
    NVPW_RawMetricsConfig_GetNumPasses_Params counting{
        NVPW_RawMetricsConfig_GetNumPasses_Params_STRUCT_SIZE, nullptr, config_, 0, 0};
    const bool is_planned =
        api_.NVPW_RawMetricsConfig_BeginPassGroup(&beginning) == NVPA_STATUS_SUCCESS &&
        api_.NVPW_RawMetricsConfig_AddMetrics(&adding) == NVPA_STATUS_SUCCESS &&
        api_.NVPW_RawMetricsConfig_EndPassGroup(&ending) == NVPA_STATUS_SUCCESS &&
        api_.NVPW_RawMetricsConfig_GenerateConfigImage(&generating) == NVPA_STATUS_SUCCESS &&
        api_.NVPW_RawMetricsConfig_GetNumPasses(&counting) == NVPA_STATUS_SUCCESS;
    const size_t passes = counting.numPipelinedPasses + counting.numIsolatedPasses;
    if (!is_planned || passes == 0) return std::nullopt;
    return static_cast<uint32_t>(passes);
  }

 private:
  const NvperfApi& api_;
  NVPA_RawMetricsConfig* config_ = nullptr;
};

}  // namespace

base::Result<std::unique_ptr<NvperfChip>> NvperfChip::make(std::shared_ptr<NvperfLibrary> library,
                                                           const std::string& chip) {
  if (!library->knows(chip)) {
    return base::Status(base::Code::NotFound, library->path() + " knows no chip " + chip +
                                                  "; it knows " + library->chips());
  }
  std::unique_ptr<NvperfChip> made(new NvperfChip(std::move(library), chip));
  if (!made->initialize()) {
    return base::Status(base::Code::Unavailable,
                        made->library_->path() + " has no metrics of " + chip);
  }
  return made;
}

bool NvperfChip::initialize() {
  NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize_Params sizing{
      NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize_Params_STRUCT_SIZE, nullptr,
      chip_.c_str(), nullptr, 0};
  if (api_.NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize(&sizing) != NVPA_STATUS_SUCCESS) {
    return false;
  }
  scratch_.resize(sizing.scratchBufferSize);
  NVPW_CUDA_MetricsEvaluator_Initialize_Params making{
      NVPW_CUDA_MetricsEvaluator_Initialize_Params_STRUCT_SIZE,
      nullptr,
      scratch_.data(),
      scratch_.size(),
      chip_.c_str(),
      nullptr,
      nullptr,
      0,
      nullptr};
  if (api_.NVPW_CUDA_MetricsEvaluator_Initialize(&making) != NVPA_STATUS_SUCCESS) return false;
  evaluator_ = making.pMetricsEvaluator;
  return true;
}

NvperfChip::~NvperfChip() {
  if (evaluator_ == nullptr) return;
  NVPW_MetricsEvaluator_Destroy_Params parameters{NVPW_MetricsEvaluator_Destroy_Params_STRUCT_SIZE,
                                                  nullptr, evaluator_};
  api_.NVPW_MetricsEvaluator_Destroy(&parameters);
}

std::vector<MetricFacts> NvperfChip::list() const {
  std::vector<MetricFacts> metrics;
  for (uint8_t type = 0; type < NVPW_METRIC_TYPE__COUNT; ++type) {
    NVPW_MetricsEvaluator_GetMetricNames_Params parameters{
        NVPW_MetricsEvaluator_GetMetricNames_Params_STRUCT_SIZE,
        nullptr,
        evaluator_,
        type,
        nullptr,
        nullptr,
        0};
    if (api_.NVPW_MetricsEvaluator_GetMetricNames(&parameters) != NVPA_STATUS_SUCCESS) continue;
    for (size_t i = 0; i < parameters.numMetrics; ++i) {
      metrics.push_back(
          facts_of(&parameters.pMetricNames[parameters.pMetricNameBeginIndices[i]], {type, i}));
    }
  }
  std::sort(metrics.begin(), metrics.end(),
            [](const MetricFacts& a, const MetricFacts& b) { return a.name < b.name; });
  return metrics;
}

std::optional<NvperfChip::Place> NvperfChip::find(const std::string& base) const {
  NVPW_MetricsEvaluator_GetMetricTypeAndIndex_Params parameters{
      NVPW_MetricsEvaluator_GetMetricTypeAndIndex_Params_STRUCT_SIZE,
      nullptr,
      evaluator_,
      base.c_str(),
      0,
      0};
  if (api_.NVPW_MetricsEvaluator_GetMetricTypeAndIndex(&parameters) != NVPA_STATUS_SUCCESS ||
      parameters.metricType >= NVPW_METRIC_TYPE__COUNT) {
    return std::nullopt;
  }
  return Place{parameters.metricType, parameters.metricIndex};
}

std::optional<NVPW_MetricEvalRequest> NvperfChip::request_of(const std::string& metric) const {
  NVPW_MetricEvalRequest request{};
  NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest_Params parameters{
      NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest_Params_STRUCT_SIZE,
      nullptr,
      evaluator_,
      metric.c_str(),
      &request,
      NVPW_MetricEvalRequest_STRUCT_SIZE};
  if (api_.NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest(&parameters) !=
      NVPA_STATUS_SUCCESS) {
    return std::nullopt;
  }
  return request;
}

// Whole names: of counters and throughputs with a rollup, of all but plain counters with a
// submetric.
std::vector<std::string> NvperfChip::forms(const MetricFacts& metric) const {
  const std::optional<Place> place = find(metric.name);
  if (!place) return {};
  NVPW_MetricsEvaluator_GetSupportedSubmetrics_Params parameters{
      NVPW_MetricsEvaluator_GetSupportedSubmetrics_Params_STRUCT_SIZE,
      nullptr,
      evaluator_,
      place->type,
      nullptr,
      0};
  if (api_.NVPW_MetricsEvaluator_GetSupportedSubmetrics(&parameters) != NVPA_STATUS_SUCCESS) {
    return {};
  }
  std::vector<std::string> forms;
  const auto add = [&](const std::string& stem) {
    for (size_t i = 0; i < parameters.numSupportedSubmetrics; ++i) {
      const uint16_t submetric = parameters.pSupportedSubmetrics[i];
      if (submetric >= std::size(kSubmetrics)) continue;
      const std::string behind = kSubmetrics[submetric];
      forms.push_back(behind.empty() ? stem : stem + "." + behind);
    }
  };
  if (place->type == NVPW_METRIC_TYPE_RATIO) {
    add(metric.name);
  } else {
    for (const char* rollup : kRollups) add(metric.name + "." + rollup);
  }
  std::erase_if(forms, [&](const std::string& form) { return !request_of(form); });
  return forms;
}

MetricFacts NvperfChip::facts_of(std::string name, Place place) const {
  MetricFacts facts{std::move(name), kKinds[place.type], "", ""};
  const char* description = nullptr;
  uint32_t hardware = 0;
  const auto ask = [&](auto call, auto parameters) {
    if (call(&parameters) != NVPA_STATUS_SUCCESS) return;
    description = parameters.pDescription;
    hardware = static_cast<uint32_t>(parameters.hwUnit);
  };
  if (place.type == NVPW_METRIC_TYPE_COUNTER) {
    NVPW_MetricsEvaluator_GetCounterProperties_Params parameters{
        NVPW_MetricsEvaluator_GetCounterProperties_Params_STRUCT_SIZE,
        nullptr,
        evaluator_,
        place.index,
        nullptr,
        0};
    ask(api_.NVPW_MetricsEvaluator_GetCounterProperties, parameters);
  } else if (place.type == NVPW_METRIC_TYPE_RATIO) {
    NVPW_MetricsEvaluator_GetRatioMetricProperties_Params parameters{
        NVPW_MetricsEvaluator_GetRatioMetricProperties_Params_STRUCT_SIZE,
        nullptr,
        evaluator_,
        place.index,
        nullptr,
        0};
    ask(api_.NVPW_MetricsEvaluator_GetRatioMetricProperties, parameters);
  } else {
    NVPW_MetricsEvaluator_GetThroughputMetricProperties_Params parameters{};
    parameters.structSize = NVPW_MetricsEvaluator_GetThroughputMetricProperties_Params_STRUCT_SIZE;
    parameters.pMetricsEvaluator = evaluator_;
    parameters.throughputMetricIndex = place.index;
    ask(api_.NVPW_MetricsEvaluator_GetThroughputMetricProperties, parameters);
  }
  if (description != nullptr) facts.description = description;
  NVPW_MetricsEvaluator_HwUnitToString_Params naming{
      NVPW_MetricsEvaluator_HwUnitToString_Params_STRUCT_SIZE, nullptr, evaluator_, hardware,
      nullptr};
  if (api_.NVPW_MetricsEvaluator_HwUnitToString(&naming) == NVPA_STATUS_SUCCESS) {
    facts.hardware = naming.pHwUnitName;
  }
  return facts;
}

std::string NvperfChip::unit(const std::string& metric) const {
  const auto request = request_of(metric);
  if (!request) return {};
  NVPW_MetricsEvaluator_GetMetricDimUnits_Params parameters{
      NVPW_MetricsEvaluator_GetMetricDimUnits_Params_STRUCT_SIZE,
      nullptr,
      evaluator_,
      &*request,
      NVPW_MetricEvalRequest_STRUCT_SIZE,
      nullptr,
      0,
      NVPW_DimUnitFactor_STRUCT_SIZE};
  if (api_.NVPW_MetricsEvaluator_GetMetricDimUnits(&parameters) != NVPA_STATUS_SUCCESS) return {};
  std::vector<NVPW_DimUnitFactor> factors(parameters.numDimUnits);
  parameters.pDimUnits = factors.data();
  if (factors.empty() ||
      api_.NVPW_MetricsEvaluator_GetMetricDimUnits(&parameters) != NVPA_STATUS_SUCCESS) {
    return {};
  }
  std::string above, below;
  for (const NVPW_DimUnitFactor& factor : factors) {
    NVPW_MetricsEvaluator_DimUnitToString_Params naming{
        NVPW_MetricsEvaluator_DimUnitToString_Params_STRUCT_SIZE,
        nullptr,
        evaluator_,
        factor.dimUnit,
        nullptr,
        nullptr};
    if (api_.NVPW_MetricsEvaluator_DimUnitToString(&naming) != NVPA_STATUS_SUCCESS) continue;
    std::string& side = factor.exponent < 0 ? below : above;
    side.append(side.empty() ? "" : "*").append(naming.pSingularName);
    if (const int power = std::abs(factor.exponent); power != 1) {
      side.append("^").append(std::to_string(power));
    }
  }
  if (above.empty()) above = "1";
  return below.empty() ? above : above + "/" + below;
}

std::optional<MetricFacts> NvperfChip::describe(const std::string& name) const {
  std::string base = base_of(name);
  const std::optional<Place> place = find(base);
  const bool is_whole = base != name;
  if (!place || (is_whole && !request_of(name))) return std::nullopt;
  return facts_of(std::move(base), *place);
}

// What a metric is made of; the library keeps the names.
std::vector<const char*> NvperfChip::raw_metrics(const std::string& metric) const {
  const auto request = request_of(metric);
  if (!request) return {};
  NVPW_MetricsEvaluator_GetMetricRawDependencies_Params parameters{
      NVPW_MetricsEvaluator_GetMetricRawDependencies_Params_STRUCT_SIZE,
      nullptr,
      evaluator_,
      &*request,
      1,
      NVPW_MetricEvalRequest_STRUCT_SIZE,
      sizeof(NVPW_MetricEvalRequest),
      nullptr,
      0,
      nullptr,
      0};
  if (api_.NVPW_MetricsEvaluator_GetMetricRawDependencies(&parameters) != NVPA_STATUS_SUCCESS) {
    return {};
  }
  std::vector<const char*> names(parameters.numRawDependencies);
  std::vector<const char*> optional(parameters.numOptionalRawDependencies);
  parameters.ppRawDependencies = names.data();
  parameters.ppOptionalRawDependencies = optional.data();
  if (api_.NVPW_MetricsEvaluator_GetMetricRawDependencies(&parameters) != NVPA_STATUS_SUCCESS) {
    return {};
  }
  return names;
}

std::string NvperfChip::why_not(CountedBy by) const {
  return by == CountedBy::Time && !has_timed_samples(chip_) ? chip_ + " " + kNoTimedSamples : "";
}

std::optional<uint32_t> NvperfChip::passes(CountedBy by,
                                           const std::vector<std::string>& metrics) const {
  if (by == CountedBy::Instruction) return std::nullopt;
  std::vector<NVPA_RawMetricRequest> requests;
  for (const std::string& metric : metrics) {
    const std::vector<const char*> names = raw_metrics(metric);
    if (names.empty()) return std::nullopt;
    for (const char* name : names) {
      requests.push_back({NVPA_RAW_METRIC_REQUEST_STRUCT_SIZE, nullptr, name, 1, 1});
    }
  }
  return RawConfig(api_, chip_, by).passes(requests);
}

}  // namespace gpufl::backend
