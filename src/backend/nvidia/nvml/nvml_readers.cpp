// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvml/nvml_readers.hpp"

#include <climits>
#include <cmath>

#include "backend/metric_table.hpp"

namespace gpufl::backend {
namespace {

// Field numbers that the header of CUDA 12.0 does not have.
constexpr unsigned kFieldPowerInstant = 186;  // NVML_FI_DEV_POWER_INSTANT
// NVML says KB/s for PCIe and KiB for NVLink.
constexpr unsigned long long kPcieUnitBytes = 1000;
constexpr int64_t kNvlinkUnitBytes = 1024;

nvmlReturn_t read_utilization(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  nvmlUtilization_t utilization{};
  const nvmlReturn_t code = call(api.nvmlDeviceGetUtilizationRates, handle, &utilization);
  if (code == NVML_SUCCESS) {
    emitter.add(metric::kGpuUtil, utilization.gpu);
    emitter.add(metric::kMemoryUtil, utilization.memory);
  }
  return code;
}

// The second version tells the driver's reserve apart; the first counts it as used.
nvmlReturn_t read_memory(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  nvmlMemory_v2_t memory{};
  memory.version = nvmlMemory_v2;
  nvmlReturn_t code = call(api.nvmlDeviceGetMemoryInfo_v2, handle, &memory);
  if (is_refusal(code)) {
    nvmlMemory_t first{};
    code = api.nvmlDeviceGetMemoryInfo(handle, &first);
    memory.used = first.used;
    memory.free = first.free;
    memory.total = first.total;
  }
  if (code == NVML_SUCCESS) {
    emitter.add(metric::kMemoryUsed, memory.used);
    emitter.add(metric::kMemoryFree, memory.free);
    emitter.add(metric::kMemoryTotal, memory.total);
  }
  return code;
}

// A function of NVML that answers with one unsigned number.
template <auto Function, const std::string_view& Metric>
nvmlReturn_t read_number(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  unsigned value = 0;
  const nvmlReturn_t code = call(api.*Function, handle, &value);
  if (code == NVML_SUCCESS) emitter.add(Metric, value);
  return code;
}

nvmlReturn_t read_temperature(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  unsigned value = 0;
  const nvmlReturn_t code =
      call(api.nvmlDeviceGetTemperature, handle, NVML_TEMPERATURE_GPU, &value);
  if (code == NVML_SUCCESS) emitter.add(metric::kTemperature, value);
  return code;
}

template <nvmlClockType_t Clock, const std::string_view& Metric>
nvmlReturn_t read_clock(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  unsigned value = 0;
  const nvmlReturn_t code = call(api.nvmlDeviceGetClockInfo, handle, Clock, &value);
  if (code == NVML_SUCCESS) emitter.add(Metric, value);
  return code;
}

nvmlReturn_t read_performance_state(const NvmlApi& api, nvmlDevice_t handle,
                                    MetricEmitter& emitter) {
  nvmlPstates_t state = NVML_PSTATE_UNKNOWN;
  const nvmlReturn_t code = call(api.nvmlDeviceGetPerformanceState, handle, &state);
  if (code == NVML_SUCCESS && state != NVML_PSTATE_UNKNOWN) {
    emitter.add(metric::kPerformanceState, static_cast<unsigned>(state));
  }
  return code;
}

// NVML's bits have the numbers of clock_limits_bits; those that it may come to have beyond them go
// where vendors have bits of their own.
unsigned long long clock_limits(unsigned long long reasons) {
  constexpr unsigned long long kShared = 0x1ff;
  return (reasons & kShared) | (reasons & ~kShared) << 32;
}

nvmlReturn_t read_clock_limits(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  auto* function = api.nvmlDeviceGetCurrentClocksEventReasons != nullptr
                       ? api.nvmlDeviceGetCurrentClocksEventReasons
                       : api.nvmlDeviceGetCurrentClocksThrottleReasons;
  unsigned long long bits = 0;
  const nvmlReturn_t code = call(function, handle, &bits);
  if (code == NVML_SUCCESS) emitter.add(metric::kClockLimits, clock_limits(bits));
  return code;
}

nvmlReturn_t read_energy(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  unsigned long long millijoules = 0;
  const nvmlReturn_t code = call(api.nvmlDeviceGetTotalEnergyConsumption, handle, &millijoules);
  if (code == NVML_SUCCESS) emitter.add(metric::kEnergy, millijoules);
  return code;
}

template <nvmlPcieUtilCounter_t Counter, const std::string_view& Metric>
nvmlReturn_t read_pcie(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  unsigned value = 0;
  const nvmlReturn_t code = call(api.nvmlDeviceGetPcieThroughput, handle, Counter, &value);
  if (code == NVML_SUCCESS && value != UINT_MAX) emitter.add(Metric, value * kPcieUnitBytes);
  return code;
}

template <nvmlMemoryErrorType_t Type, nvmlEccCounterType_t Counter, const std::string_view& Metric>
nvmlReturn_t read_ecc(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  unsigned long long count = 0;
  const nvmlReturn_t code = call(api.nvmlDeviceGetTotalEccErrors, handle, Type, Counter, &count);
  if (code == NVML_SUCCESS) emitter.add(Metric, count);
  return code;
}

nvmlReturn_t read_remapped_rows(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  const nvmlReturn_t code =
      call(api.nvmlDeviceGetRemappedRows, handle, &corrected, &uncorrected, &pending, &failed);
  if (code == NVML_SUCCESS) {
    emitter.add(metric::kRemappedRowsCorrected, corrected);
    emitter.add(metric::kRemappedRowsUncorrected, uncorrected);
    emitter.add(metric::kRemappedRowsPending, pending);
    emitter.add(metric::kRemappedRowsFailed, failed);
  }
  return code;
}

// Encoder and decoder answer with the percentage and the period it was measured over.
template <auto Function, const std::string_view& Metric>
nvmlReturn_t read_engine(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  unsigned value = 0, period_us = 0;
  const nvmlReturn_t code = call(api.*Function, handle, &value, &period_us);
  if (code == NVML_SUCCESS) emitter.add(Metric, value);
  return code;
}

std::vector<ReadFunction> fast_functions() {
  return {
      read_utilization,
      read_memory,
      read_temperature,
      read_number<&NvmlApi::nvmlDeviceGetPowerUsage, metric::kPower>,
      read_number<&NvmlApi::nvmlDeviceGetEnforcedPowerLimit, metric::kPowerLimit>,
      read_clock<NVML_CLOCK_SM, metric::kComputeClock>,
      read_clock<NVML_CLOCK_MEM, metric::kMemoryClock>,
      read_clock<NVML_CLOCK_GRAPHICS, metric::kGraphicsClock>,
      read_clock<NVML_CLOCK_VIDEO, metric::kVideoClock>,
      read_performance_state,
      read_clock_limits,
  };
}

std::vector<ReadFunction> slow_functions() {
  return {
      read_energy,
      read_pcie<NVML_PCIE_UTIL_RX_BYTES, metric::kPcieRx>,
      read_pcie<NVML_PCIE_UTIL_TX_BYTES, metric::kPcieTx>,
      read_number<&NvmlApi::nvmlDeviceGetCurrPcieLinkGeneration, metric::kPcieGeneration>,
      read_number<&NvmlApi::nvmlDeviceGetCurrPcieLinkWidth, metric::kPcieWidth>,
      read_number<&NvmlApi::nvmlDeviceGetPcieReplayCounter, metric::kPcieReplays>,
      read_ecc<NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC, metric::kEccCorrectedVolatile>,
      read_ecc<NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC,
               metric::kEccUncorrectedVolatile>,
      read_ecc<NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_AGGREGATE_ECC,
               metric::kEccCorrectedAggregate>,
      read_ecc<NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_AGGREGATE_ECC,
               metric::kEccUncorrectedAggregate>,
      read_remapped_rows,
      read_engine<&NvmlApi::nvmlDeviceGetEncoderUtilization, metric::kEncoderUtil>,
      read_engine<&NvmlApi::nvmlDeviceGetDecoderUtilization, metric::kDecoderUtil>,
  };
}

// What a field holds; nothing where that is NVML's "not available".
std::optional<int64_t> field_value(const nvmlFieldValue_t& field) {
  switch (field.valueType) {
    case NVML_VALUE_TYPE_DOUBLE: return std::llround(field.value.dVal);
    case NVML_VALUE_TYPE_UNSIGNED_INT:
      if (field.value.uiVal == UINT_MAX) return std::nullopt;
      return field.value.uiVal;
    case NVML_VALUE_TYPE_UNSIGNED_LONG:
      if (field.value.ulVal == ULONG_MAX) return std::nullopt;
      return static_cast<int64_t>(field.value.ulVal);
    case NVML_VALUE_TYPE_UNSIGNED_LONG_LONG:
      if (field.value.ullVal == ULLONG_MAX) return std::nullopt;
      return static_cast<int64_t>(field.value.ullVal);
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG: return field.value.sllVal;
    default: return std::nullopt;
  }
}

}  // namespace

bool is_refusal(nvmlReturn_t code) {
  switch (code) {
    case NVML_ERROR_NOT_SUPPORTED:
    case NVML_ERROR_FUNCTION_NOT_FOUND:
    case NVML_ERROR_NO_PERMISSION:
    case NVML_ERROR_INVALID_ARGUMENT:
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH: return true;
    default: return false;
  }
}

void MetricEmitter::add(std::string_view metric, unsigned value, int64_t index) {
  if (value != UINT_MAX) add_signed(metric, value, index);
}

void MetricEmitter::add(std::string_view metric, unsigned long long value, int64_t index) {
  if (value != ULLONG_MAX) add_signed(metric, static_cast<int64_t>(value), index);
}

void FieldQuery::add(unsigned field, std::string_view metric, unsigned scope, int64_t scale) {
  nvmlFieldValue_t value{};
  value.fieldId = field;
  value.scopeId = scope;
  values_.push_back(value);
  targets_.push_back({metric, scope, scale});
}

nvmlReturn_t FieldQuery::read(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  if (values_.empty()) return NVML_SUCCESS;
  const nvmlReturn_t code =
      call(api.nvmlDeviceGetFieldValues, handle, static_cast<int>(values_.size()), values_.data());
  if (is_refusal(code)) {
    values_.clear();
    targets_.clear();
  }
  if (code != NVML_SUCCESS) return is_lost(code) ? code : NVML_SUCCESS;
  size_t kept = 0;
  for (size_t i = 0; i < values_.size(); ++i) {
    const nvmlReturn_t answer = values_[i].nvmlReturn;
    if (is_lost(answer)) return answer;
    if (is_refusal(answer)) continue;
    if (answer == NVML_SUCCESS) {
      if (const auto value = field_value(values_[i])) {
        emitter.add_signed(targets_[i].metric, *value * targets_[i].scale, targets_[i].index);
      }
    }
    values_[kept] = values_[i];
    targets_[kept++] = targets_[i];
  }
  values_.resize(kept);
  targets_.resize(kept);
  return NVML_SUCCESS;
}

nvmlReturn_t ReaderSet::read(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  size_t kept = 0;
  for (size_t i = 0; i < readers_.size(); ++i) {
    const nvmlReturn_t code = readers_[i](api, handle, emitter);
    if (is_lost(code)) return code;
    if (!is_refusal(code)) readers_[kept++] = readers_[i];
  }
  readers_.resize(kept);
  return NVML_SUCCESS;
}

FastReader::FastReader() : functions_(fast_functions()) {
  fields_.add(NVML_FI_DEV_MEMORY_TEMP, metric::kMemoryTemperature);
  fields_.add(kFieldPowerInstant, metric::kPowerInstant);
}

nvmlReturn_t FastReader::read(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  const nvmlReturn_t code = functions_.read(api, handle, emitter);
  return code != NVML_SUCCESS ? code : fields_.read(api, handle, emitter);
}

SlowReader::SlowReader(const NvmlDevice& device)
    : functions_(slow_functions()), fan_count_(device.fan_count) {
  fields_.add(NVML_FI_DEV_RETIRED_SBE, metric::kRetiredPagesSingleBit);
  fields_.add(NVML_FI_DEV_RETIRED_DBE, metric::kRetiredPagesDoubleBit);
  fields_.add(NVML_FI_DEV_RETIRED_PENDING, metric::kRetiredPagesPending);
  for (const unsigned number : device.links) {
    FieldQuery counters;
    counters.add(NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, metric::kLinkRx, number, kNvlinkUnitBytes);
    counters.add(NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, metric::kLinkTx, number, kNvlinkUnitBytes);
    counters.add(NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY, metric::kLinkReplays, number);
    counters.add(NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY, metric::kLinkRecoveries, number);
    counters.add(NVML_FI_DEV_NVLINK_ERROR_DL_CRC, metric::kLinkCrcErrors, number);
    links_.push_back({number, std::move(counters)});
  }
}

nvmlReturn_t SlowReader::read(const NvmlApi& api, nvmlDevice_t handle, MetricEmitter& emitter) {
  nvmlReturn_t code = functions_.read(api, handle, emitter);
  if (code == NVML_SUCCESS) code = fields_.read(api, handle, emitter);
  if (code == NVML_SUCCESS) code = read_links(api, handle, emitter);
  if (code == NVML_SUCCESS) code = read_fans(api, handle, emitter);
  return code;
}

nvmlReturn_t SlowReader::read_links(const NvmlApi& api, nvmlDevice_t handle,
                                    MetricEmitter& emitter) {
  for (Link& link : links_) {
    nvmlEnableState_t state{};
    const nvmlReturn_t code = call(api.nvmlDeviceGetNvLinkState, handle, link.number, &state);
    if (is_lost(code)) return code;
    if (code != NVML_SUCCESS) continue;
    const bool active = state == NVML_FEATURE_ENABLED;
    emitter.add_signed(metric::kLinkActive, active ? 1 : 0, link.number);
    // A link that is down refuses its counters; that must not count as unsupported for ever.
    if (!active) continue;
    const nvmlReturn_t counted = link.counters.read(api, handle, emitter);
    if (counted != NVML_SUCCESS) return counted;
  }
  return NVML_SUCCESS;
}

nvmlReturn_t SlowReader::read_fans(const NvmlApi& api, nvmlDevice_t handle,
                                   MetricEmitter& emitter) {
  for (unsigned fan = 0; fan < fan_count_; ++fan) {
    unsigned percent = 0;
    const nvmlReturn_t code = call(api.nvmlDeviceGetFanSpeed_v2, handle, fan, &percent);
    if (is_lost(code)) return code;
    if (is_refusal(code)) fan_count_ = 0;
    if (code == NVML_SUCCESS) emitter.add(metric::kFanSpeed, percent, fan);
  }
  return NVML_SUCCESS;
}

}  // namespace gpufl::backend
