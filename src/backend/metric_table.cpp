// SPDX-License-Identifier: Apache-2.0
#include "backend/metric_table.hpp"

#include <algorithm>

namespace gpufl::backend {
namespace {

constexpr MetricSpec fast(std::string_view name, std::string_view unit, std::string_view source,
                          std::string_view help) {
  return {name, MetricScope::Device, MetricRate::Fast, MetricType::Gauge, unit, "", source, help};
}
constexpr MetricSpec slow(MetricType type, std::string_view name, std::string_view unit,
                          std::string_view index, std::string_view source, std::string_view help) {
  return {name, MetricScope::Device, MetricRate::Slow, type, unit, index, source, help};
}
constexpr MetricSpec host(std::string_view name, std::string_view unit, std::string_view index,
                          std::string_view source, std::string_view help) {
  return {name, MetricScope::Host, MetricRate::Fast, MetricType::Gauge, unit, index, source, help};
}

constexpr MetricType kGauge = MetricType::Gauge;
constexpr MetricType kCounter = MetricType::Counter;

// clang-format off
constexpr MetricSpec kMetrics[] = {
    fast(metric::kGpuUtil, "percent", "nvmlDeviceGetUtilizationRates", "Share of the last sampling period (1/6 s to 1 s, by model) in which a kernel ran"),
    fast(metric::kMemoryUtil, "percent", "nvmlDeviceGetUtilizationRates", "Share of the last sampling period in which device memory was read or written"),
    fast(metric::kMemoryUsed, "bytes", "nvmlDeviceGetMemoryInfo_v2", "Device memory allocated; what the driver reserves for itself is not in it"),
    fast(metric::kMemoryFree, "bytes", "nvmlDeviceGetMemoryInfo_v2", "Device memory not allocated"),
    fast(metric::kMemoryTotal, "bytes", "nvmlDeviceGetMemoryInfo_v2", "Physical device memory"),
    fast(metric::kTemperature, "°C", "nvmlDeviceGetTemperature", "Temperature of the GPU die"),
    fast(metric::kMemoryTemperature, "°C", "NVML_FI_DEV_MEMORY_TEMP", "Temperature of the device memory"),
    fast(metric::kPower, "mW", "nvmlDeviceGetPowerUsage", "Power drawn by the board; an average over one second on Ampere and newer"),
    fast(metric::kPowerInstant, "mW", "NVML_FI_DEV_POWER_INSTANT", "Power drawn by the board now"),
    fast(metric::kPowerLimit, "mW", "nvmlDeviceGetEnforcedPowerLimit", "Power limit in force"),
    fast(metric::kSmClock, "MHz", "nvmlDeviceGetClockInfo", "Clock of the SMs"),
    fast(metric::kMemoryClock, "MHz", "nvmlDeviceGetClockInfo", "Clock of the device memory"),
    fast(metric::kGraphicsClock, "MHz", "nvmlDeviceGetClockInfo", "Clock of the graphics domain"),
    fast(metric::kVideoClock, "MHz", "nvmlDeviceGetClockInfo", "Clock of the video engines"),
    fast(metric::kPerformanceState, "", "nvmlDeviceGetPerformanceState", "Performance state: 0 is the fastest, 15 the slowest"),
    fast(metric::kThrottleReasons, "bits", "nvmlDeviceGetCurrentClocksEventReasons", "Why the clocks are below their maximum, one bit a reason"),

    slow(kCounter, metric::kEnergy, "mJ", "", "nvmlDeviceGetTotalEnergyConsumption", "Energy used since the driver was loaded"),
    slow(kGauge, metric::kPcieRx, "bytes/s", "", "nvmlDeviceGetPcieThroughput", "PCIe traffic to the GPU, over 20 ms"),
    slow(kGauge, metric::kPcieTx, "bytes/s", "", "nvmlDeviceGetPcieThroughput", "PCIe traffic from the GPU, over 20 ms"),
    slow(kGauge, metric::kPcieGeneration, "", "", "nvmlDeviceGetCurrPcieLinkGeneration", "PCIe generation of the link now"),
    slow(kGauge, metric::kPcieWidth, "lanes", "", "nvmlDeviceGetCurrPcieLinkWidth", "PCIe lanes of the link now"),
    slow(kCounter, metric::kPcieReplays, "", "", "nvmlDeviceGetPcieReplayCounter", "PCIe packets sent again"),
    slow(kGauge, metric::kNvlinkActive, "", "link", "nvmlDeviceGetNvLinkState", "1 when the NVLink is up, 0 when down"),
    slow(kCounter, metric::kNvlinkRx, "bytes", "link", "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX", "Payload received over the NVLink"),
    slow(kCounter, metric::kNvlinkTx, "bytes", "link", "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX", "Payload sent over the NVLink"),
    slow(kCounter, metric::kNvlinkReplays, "", "link", "NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY", "NVLink packets sent again"),
    slow(kCounter, metric::kNvlinkRecoveries, "", "link", "NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY", "NVLink recoveries"),
    slow(kCounter, metric::kNvlinkCrcErrors, "", "link", "NVML_FI_DEV_NVLINK_ERROR_DL_CRC", "NVLink checksum errors"),
    slow(kCounter, metric::kEccCorrectedVolatile, "", "", "nvmlDeviceGetTotalEccErrors", "Memory errors corrected since the driver was loaded"),
    slow(kCounter, metric::kEccUncorrectedVolatile, "", "", "nvmlDeviceGetTotalEccErrors", "Memory errors not corrected since the driver was loaded"),
    slow(kCounter, metric::kEccCorrectedAggregate, "", "", "nvmlDeviceGetTotalEccErrors", "Memory errors corrected in the board's life"),
    slow(kCounter, metric::kEccUncorrectedAggregate, "", "", "nvmlDeviceGetTotalEccErrors", "Memory errors not corrected in the board's life"),
    slow(kCounter, metric::kRetiredPagesSingleBit, "", "", "NVML_FI_DEV_RETIRED_SBE", "Memory pages retired for repeated single-bit errors (before Ampere)"),
    slow(kCounter, metric::kRetiredPagesDoubleBit, "", "", "NVML_FI_DEV_RETIRED_DBE", "Memory pages retired for a double-bit error (before Ampere)"),
    slow(kGauge, metric::kRetiredPagesPending, "", "", "NVML_FI_DEV_RETIRED_PENDING", "1 when pages wait for a reboot to be retired (before Ampere)"),
    slow(kCounter, metric::kRemappedRowsCorrected, "", "", "nvmlDeviceGetRemappedRows", "Memory rows remapped for corrected errors (Ampere and newer)"),
    slow(kCounter, metric::kRemappedRowsUncorrected, "", "", "nvmlDeviceGetRemappedRows", "Memory rows remapped for uncorrected errors (Ampere and newer)"),
    slow(kGauge, metric::kRemappedRowsPending, "", "", "nvmlDeviceGetRemappedRows", "1 when rows wait for a reset to be remapped"),
    slow(kGauge, metric::kRemappedRowsFailed, "", "", "nvmlDeviceGetRemappedRows", "1 when a remapping has failed: the board needs replacing"),
    slow(kGauge, metric::kFanSpeed, "percent", "fan", "nvmlDeviceGetFanSpeed_v2", "Speed asked of the fan, in percent of its maximum"),
    slow(kGauge, metric::kEncoderUtil, "percent", "", "nvmlDeviceGetEncoderUtilization", "Use of the video encoder"),
    slow(kGauge, metric::kDecoderUtil, "percent", "", "nvmlDeviceGetDecoderUtilization", "Use of the video decoder"),

    host(metric::kCpuUtil, "permille", "", "/proc/stat", "CPU time used on all cores since the sample before; 1000 is every core busy"),
    host(metric::kCpuCoreUtil, "permille", "core", "/proc/stat", "CPU time used on one core since the sample before"),
    host(metric::kLoad1, "1/1000", "", "/proc/loadavg", "Load average over 1 minute, times 1000"),
    host(metric::kLoad5, "1/1000", "", "/proc/loadavg", "Load average over 5 minutes, times 1000"),
    host(metric::kLoad15, "1/1000", "", "/proc/loadavg", "Load average over 15 minutes, times 1000"),
    host(metric::kRamTotal, "bytes", "", "/proc/meminfo", "Memory of the machine"),
    host(metric::kRamUsed, "bytes", "", "/proc/meminfo", "Memory in use, without buffers and page cache"),
    host(metric::kRamAvailable, "bytes", "", "/proc/meminfo", "Memory that programs can still get without swapping"),
    host(metric::kSwapTotal, "bytes", "", "/proc/meminfo", "Swap space"),
    host(metric::kSwapUsed, "bytes", "", "/proc/meminfo", "Swap space in use"),
    host(metric::kProcessCpu, "permille", "", "CLOCK_PROCESS_CPUTIME_ID", "CPU time used by the recording process; 1000 is one core busy"),
    host(metric::kProcessRss, "bytes", "", "/proc/self/statm", "Resident memory of the recording process"),
    host(metric::kNetworkRx, "bytes/s", "", "/proc/net/dev", "Received on all network interfaces but lo"),
    host(metric::kNetworkTx, "bytes/s", "", "/proc/net/dev", "Sent on all network interfaces but lo"),
    host(metric::kDiskRead, "bytes/s", "", "/proc/diskstats", "Read from all disks"),
    host(metric::kDiskWrite, "bytes/s", "", "/proc/diskstats", "Written to all disks"),
};
// clang-format on

}  // namespace

std::span<const MetricSpec> metric_table() { return kMetrics; }

const MetricSpec* find_metric(MetricScope scope, std::string_view name) {
  const auto* found = std::find_if(std::begin(kMetrics), std::end(kMetrics), [&](const auto& m) {
    return m.scope == scope && m.name == name;
  });
  return found == std::end(kMetrics) ? nullptr : found;
}

std::string_view to_string(MetricScope scope) {
  return scope == MetricScope::Device ? "device" : "host";
}
std::string_view to_string(MetricRate rate) { return rate == MetricRate::Fast ? "fast" : "slow"; }
std::string_view to_string(MetricType type) {
  return type == MetricType::Gauge ? "gauge" : "counter";
}

}  // namespace gpufl::backend
