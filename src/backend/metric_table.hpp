// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// Every metric that health sources and the host sampler produce: the one place of their names.
// docs/reference/metrics.md lists the same rows (a test compares them); exporters take type and
// help from here. Constant data; any thread.
namespace gpufl::backend {

enum class MetricScope : uint8_t { Device, Host };
enum class MetricRate : uint8_t { Fast, Slow };  // every sample, or the slow sampler's own pace
enum class MetricType : uint8_t { Gauge, Counter };

struct MetricSpec {
  std::string_view name;  // ends in the unit
  MetricScope scope;
  MetricRate rate;
  MetricType type;
  std::string_view unit;    // "percent", "bytes", "MHz", ...; empty for plain counts
  std::string_view index;   // what `index` counts: "link", "fan", "core"; empty: always 0
  std::string_view source;  // where the value comes from
  std::string_view help;
};

std::span<const MetricSpec> metric_table();
const MetricSpec* find_metric(MetricScope scope, std::string_view name);  // nullptr: unknown
std::string_view to_string(MetricScope scope);
std::string_view to_string(MetricRate rate);
std::string_view to_string(MetricType type);

// The names, so that a misspelt one does not compile.
namespace metric {
inline constexpr std::string_view kGpuUtil = "gpu_util_pct";
inline constexpr std::string_view kMemoryUtil = "memory_util_pct";
inline constexpr std::string_view kMemoryUsed = "memory_used_bytes";
inline constexpr std::string_view kMemoryFree = "memory_free_bytes";
inline constexpr std::string_view kMemoryTotal = "memory_total_bytes";
inline constexpr std::string_view kTemperature = "temperature_c";
inline constexpr std::string_view kMemoryTemperature = "memory_temperature_c";
inline constexpr std::string_view kPower = "power_mw";
inline constexpr std::string_view kPowerInstant = "power_instant_mw";
inline constexpr std::string_view kPowerLimit = "power_limit_mw";
inline constexpr std::string_view kSmClock = "sm_clock_mhz";
inline constexpr std::string_view kMemoryClock = "memory_clock_mhz";
inline constexpr std::string_view kGraphicsClock = "graphics_clock_mhz";
inline constexpr std::string_view kVideoClock = "video_clock_mhz";
inline constexpr std::string_view kPerformanceState = "performance_state";
inline constexpr std::string_view kThrottleReasons = "throttle_reasons_bits";

inline constexpr std::string_view kEnergy = "energy_mj";
inline constexpr std::string_view kPcieRx = "pcie_rx_bytes_per_s";
inline constexpr std::string_view kPcieTx = "pcie_tx_bytes_per_s";
inline constexpr std::string_view kPcieGeneration = "pcie_generation";
inline constexpr std::string_view kPcieWidth = "pcie_width_lanes";
inline constexpr std::string_view kPcieReplays = "pcie_replay_count";
inline constexpr std::string_view kNvlinkActive = "nvlink_active";
inline constexpr std::string_view kNvlinkRx = "nvlink_rx_bytes";
inline constexpr std::string_view kNvlinkTx = "nvlink_tx_bytes";
inline constexpr std::string_view kNvlinkReplays = "nvlink_replay_count";
inline constexpr std::string_view kNvlinkRecoveries = "nvlink_recovery_count";
inline constexpr std::string_view kNvlinkCrcErrors = "nvlink_crc_error_count";
inline constexpr std::string_view kEccCorrectedVolatile = "ecc_corrected_volatile_count";
inline constexpr std::string_view kEccUncorrectedVolatile = "ecc_uncorrected_volatile_count";
inline constexpr std::string_view kEccCorrectedAggregate = "ecc_corrected_aggregate_count";
inline constexpr std::string_view kEccUncorrectedAggregate = "ecc_uncorrected_aggregate_count";
inline constexpr std::string_view kRetiredPagesSingleBit = "retired_pages_single_bit_count";
inline constexpr std::string_view kRetiredPagesDoubleBit = "retired_pages_double_bit_count";
inline constexpr std::string_view kRetiredPagesPending = "retired_pages_pending";
inline constexpr std::string_view kRemappedRowsCorrected = "remapped_rows_corrected_count";
inline constexpr std::string_view kRemappedRowsUncorrected = "remapped_rows_uncorrected_count";
inline constexpr std::string_view kRemappedRowsPending = "remapped_rows_pending";
inline constexpr std::string_view kRemappedRowsFailed = "remapped_rows_failed";
inline constexpr std::string_view kFanSpeed = "fan_speed_pct";
inline constexpr std::string_view kEncoderUtil = "encoder_util_pct";
inline constexpr std::string_view kDecoderUtil = "decoder_util_pct";

inline constexpr std::string_view kCpuUtil = "cpu_util_permille";
inline constexpr std::string_view kCpuCoreUtil = "cpu_core_util_permille";
inline constexpr std::string_view kLoad1 = "load_1m_milli";
inline constexpr std::string_view kLoad5 = "load_5m_milli";
inline constexpr std::string_view kLoad15 = "load_15m_milli";
inline constexpr std::string_view kRamTotal = "ram_total_bytes";
inline constexpr std::string_view kRamUsed = "ram_used_bytes";
inline constexpr std::string_view kRamAvailable = "ram_available_bytes";
inline constexpr std::string_view kSwapTotal = "swap_total_bytes";
inline constexpr std::string_view kSwapUsed = "swap_used_bytes";
inline constexpr std::string_view kProcessCpu = "process_cpu_permille";
inline constexpr std::string_view kProcessRss = "process_rss_bytes";
inline constexpr std::string_view kNetworkRx = "network_rx_bytes_per_s";
inline constexpr std::string_view kNetworkTx = "network_tx_bytes_per_s";
inline constexpr std::string_view kDiskRead = "disk_read_bytes_per_s";
inline constexpr std::string_view kDiskWrite = "disk_write_bytes_per_s";
}  // namespace metric

}  // namespace gpufl::backend
