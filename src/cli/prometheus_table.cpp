// SPDX-License-Identifier: Apache-2.0
#include "cli/prometheus.hpp"

namespace gpufl::cli {

// clang-format off
std::span<const PrometheusMetric> prometheus_table() {
  namespace m = backend::metric;
  constexpr auto kDevice = backend::MetricScope::Device;
  constexpr auto kHost = backend::MetricScope::Host;
  constexpr int64_t kMega = 1'000'000;
  static constexpr PrometheusMetric kTable[] = {
      {kDevice, m::kGpuUtil, "gpufl_gpu_utilization_ratio", 1, 100},
      {kDevice, m::kMemoryUtil, "gpufl_gpu_memory_utilization_ratio", 1, 100},
      {kDevice, m::kMemoryUsed, "gpufl_gpu_memory_used_bytes"},
      {kDevice, m::kMemoryFree, "gpufl_gpu_memory_free_bytes"},
      {kDevice, m::kMemoryTotal, "gpufl_gpu_memory_size_bytes"},
      {kDevice, m::kTemperature, "gpufl_gpu_temperature_celsius"},
      {kDevice, m::kMemoryTemperature, "gpufl_gpu_memory_temperature_celsius"},
      {kDevice, m::kPower, "gpufl_gpu_power_watts", 1, 1000},
      {kDevice, m::kPowerInstant, "gpufl_gpu_power_instant_watts", 1, 1000},
      {kDevice, m::kPowerLimit, "gpufl_gpu_power_limit_watts", 1, 1000},
      {kDevice, m::kComputeClock, "gpufl_gpu_compute_clock_hertz", kMega},
      {kDevice, m::kComputeClock, "gpufl_gpu_sm_clock_hertz", kMega, 1, "", "Former name of gpufl_gpu_compute_clock_hertz"},
      {kDevice, m::kMemoryClock, "gpufl_gpu_memory_clock_hertz", kMega},
      {kDevice, m::kGraphicsClock, "gpufl_gpu_graphics_clock_hertz", kMega},
      {kDevice, m::kVideoClock, "gpufl_gpu_video_clock_hertz", kMega},
      {kDevice, m::kPerformanceState, "gpufl_gpu_performance_state"},
      {kDevice, m::kClockLimits, "gpufl_gpu_clock_limit", 1, 1, "", "1 when this is a reason why the clocks are below their maximum"},
      {kDevice, m::kClockLimits, "gpufl_gpu_throttle_reason", 1, 1, "", "Former name of gpufl_gpu_clock_limit"},
      {kDevice, m::kEnergy, "gpufl_gpu_energy_joules_total", 1, 1000},
      {kDevice, m::kPcieRx, "gpufl_gpu_pcie_receive_bytes_per_second"},
      {kDevice, m::kPcieTx, "gpufl_gpu_pcie_transmit_bytes_per_second"},
      {kDevice, m::kPcieGeneration, "gpufl_gpu_pcie_link_generation"},
      {kDevice, m::kPcieWidth, "gpufl_gpu_pcie_link_lanes"},
      {kDevice, m::kPcieReplays, "gpufl_gpu_pcie_replays_total"},
      {kDevice, m::kLinkActive, "gpufl_gpu_link_up"},
      {kDevice, m::kLinkActive, "gpufl_gpu_nvlink_up", 1, 1, "", "Former name of gpufl_gpu_link_up"},
      {kDevice, m::kLinkRx, "gpufl_gpu_link_receive_bytes_total"},
      {kDevice, m::kLinkRx, "gpufl_gpu_nvlink_receive_bytes_total", 1, 1, "", "Former name of gpufl_gpu_link_receive_bytes_total"},
      {kDevice, m::kLinkTx, "gpufl_gpu_link_transmit_bytes_total"},
      {kDevice, m::kLinkTx, "gpufl_gpu_nvlink_transmit_bytes_total", 1, 1, "", "Former name of gpufl_gpu_link_transmit_bytes_total"},
      {kDevice, m::kLinkReplays, "gpufl_gpu_link_replays_total"},
      {kDevice, m::kLinkReplays, "gpufl_gpu_nvlink_replays_total", 1, 1, "", "Former name of gpufl_gpu_link_replays_total"},
      {kDevice, m::kLinkRecoveries, "gpufl_gpu_link_recoveries_total"},
      {kDevice, m::kLinkRecoveries, "gpufl_gpu_nvlink_recoveries_total", 1, 1, "", "Former name of gpufl_gpu_link_recoveries_total"},
      {kDevice, m::kLinkCrcErrors, "gpufl_gpu_link_crc_errors_total"},
      {kDevice, m::kLinkCrcErrors, "gpufl_gpu_nvlink_crc_errors_total", 1, 1, "", "Former name of gpufl_gpu_link_crc_errors_total"},
      {kDevice, m::kEccCorrectedVolatile, "gpufl_gpu_ecc_volatile_errors_total", 1, 1, "error=\"corrected\"", "Memory errors since the driver was loaded"},
      {kDevice, m::kEccUncorrectedVolatile, "gpufl_gpu_ecc_volatile_errors_total", 1, 1, "error=\"uncorrected\""},
      {kDevice, m::kEccCorrectedAggregate, "gpufl_gpu_ecc_aggregate_errors_total", 1, 1, "error=\"corrected\"", "Memory errors in the board's life"},
      {kDevice, m::kEccUncorrectedAggregate, "gpufl_gpu_ecc_aggregate_errors_total", 1, 1, "error=\"uncorrected\""},
      {kDevice, m::kRetiredPagesSingleBit, "gpufl_gpu_retired_pages_total", 1, 1, "cause=\"single_bit\"", "Memory pages retired (before Ampere)"},
      {kDevice, m::kRetiredPagesDoubleBit, "gpufl_gpu_retired_pages_total", 1, 1, "cause=\"double_bit\""},
      {kDevice, m::kRetiredPagesPending, "gpufl_gpu_retired_pages_pending"},
      {kDevice, m::kRemappedRowsCorrected, "gpufl_gpu_remapped_rows_total", 1, 1, "cause=\"corrected\"", "Memory rows remapped (Ampere and newer)"},
      {kDevice, m::kRemappedRowsUncorrected, "gpufl_gpu_remapped_rows_total", 1, 1, "cause=\"uncorrected\""},
      {kDevice, m::kRemappedRowsPending, "gpufl_gpu_remapped_rows_pending"},
      {kDevice, m::kRemappedRowsFailed, "gpufl_gpu_remapped_rows_failed"},
      {kDevice, m::kFanSpeed, "gpufl_gpu_fan_speed_ratio", 1, 100, "", "Requested fan speed, as a share of its maximum"},
      {kDevice, m::kEncoderUtil, "gpufl_gpu_encoder_utilization_ratio", 1, 100},
      {kDevice, m::kDecoderUtil, "gpufl_gpu_decoder_utilization_ratio", 1, 100},

      {kHost, m::kCpuUtil, "gpufl_host_cpu_utilization_ratio", 1, 1000, "", "CPU time used on all cores since the previous sample; 1 is every core busy"},
      {kHost, m::kCpuCoreUtil, "gpufl_host_cpu_core_utilization_ratio", 1, 1000},
      {kHost, m::kLoad1, "gpufl_host_load1", 1, 1000, "", "Load average over 1 minute"},
      {kHost, m::kLoad5, "gpufl_host_load5", 1, 1000, "", "Load average over 5 minutes"},
      {kHost, m::kLoad15, "gpufl_host_load15", 1, 1000, "", "Load average over 15 minutes"},
      {kHost, m::kRamTotal, "gpufl_host_memory_size_bytes"},
      {kHost, m::kRamUsed, "gpufl_host_memory_used_bytes"},
      {kHost, m::kRamAvailable, "gpufl_host_memory_available_bytes"},
      {kHost, m::kSwapTotal, "gpufl_host_swap_size_bytes"},
      {kHost, m::kSwapUsed, "gpufl_host_swap_used_bytes"},
      {kHost, m::kNetworkRx, "gpufl_host_network_receive_bytes_per_second"},
      {kHost, m::kNetworkTx, "gpufl_host_network_transmit_bytes_per_second"},
      {kHost, m::kDiskRead, "gpufl_host_disk_read_bytes_per_second"},
      {kHost, m::kDiskWrite, "gpufl_host_disk_written_bytes_per_second"},
      {kHost, m::kProcessCpu, "gpufl_process_cpu_ratio", 1, 1000, "", "CPU time used by the monitor itself; 1 is one core busy"},
      {kHost, m::kProcessRss, "gpufl_process_resident_memory_bytes", 1, 1, "", "Resident memory of the monitor itself"},
  };
  return kTable;
}
// clang-format on

}  // namespace gpufl::cli
