// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "backend/metric_table.hpp"
#include "backend/synthetic/random.hpp"
#include "backend/synthetic/synthetic_backend.hpp"

namespace gpufl::backend {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kMemoryBytes = 80 * kGiB;
constexpr int64_t kLinkCount = 4;
constexpr uint64_t kXidEvery = 1000;  // slow samples

// 0 to 100 and back over 40 samples, shifted per device: a load that a reader can recognise.
int64_t wave_pct(int64_t device, uint64_t sample) {
  const auto phase = static_cast<int64_t>((sample + static_cast<uint64_t>(device) * 7) % 40);
  return 100 - std::abs(phase * 5 - 100);
}

class SyntheticHealth : public HealthSource {
 public:
  explicit SyntheticHealth(const SyntheticOptions& options) : options_(options) {}

  std::vector<DeviceFacts> devices() override;
  void sample_fast(std::vector<MetricValue>& out) override;
  void sample_slow(std::vector<MetricValue>& out, std::vector<ProcessUse>& processes,
                   std::vector<DeviceEvent>& events) override;

 private:
  int64_t noise(int64_t device, uint64_t sample, int64_t limit) const {
    return scaled(random_at(options_.seed + static_cast<uint64_t>(device), sample), limit);
  }

  const SyntheticOptions options_;
  uint64_t fast_samples_ = 0;  // the fast sampler's thread only
  uint64_t slow_samples_ = 0;  // the slow sampler's thread only
};

std::vector<DeviceFacts> SyntheticHealth::devices() {
  std::vector<DeviceFacts> all;
  for (int64_t device = 0; device < options_.devices; ++device) {
    const std::string digits = std::to_string(100 + device).substr(1);
    DeviceFacts facts;
    facts.device = options_.first_device + device;
    facts.vendor = "synthetic";
    facts.name = "Synthetic GPU";
    facts.uuid = "GPU-00000000-0000-0000-0000-0000000000" + digits;
    facts.pci_bus = "00000000:" + digits + ":00.0";
    facts.driver = "1.0";
    facts.runtime = "1.0";
    facts.compute_units = 100;
    facts.memory_bytes = kMemoryBytes;
    facts.architecture = "sm_90";
    facts.power_limit_mw = 700'000;
    facts.max_compute_clock_mhz = 1980;
    facts.max_memory_clock_mhz = 2600;
    facts.memory_bus_bits = 5120;
    facts.pcie_generation_max = 5;
    facts.pcie_width_max = 16;
    facts.link_count = kLinkCount;
    facts.slowdown_temperature_c = 87;
    facts.shutdown_temperature_c = 92;
    all.push_back(std::move(facts));
  }
  return all;
}

void SyntheticHealth::sample_fast(std::vector<MetricValue>& out) {
  const uint64_t sample = fast_samples_++;
  for (int64_t device = 0; device < options_.devices; ++device) {
    const int64_t load = wave_pct(device, sample);
    const int64_t used = 10 * kGiB + load * (kMemoryBytes / 200);
    const int64_t power = 80'000 + load * 5'500 + noise(device, sample, 4'000);
    const std::pair<std::string_view, int64_t> values[] = {
        {metric::kGpuUtil, load},
        {metric::kMemoryUtil, load / 2},
        {metric::kMemoryUsed, used},
        {metric::kMemoryFree, kMemoryBytes - used},
        {metric::kMemoryTotal, kMemoryBytes},
        {metric::kTemperature, 35 + load / 3},
        {metric::kMemoryTemperature, 40 + load / 3},
        {metric::kPower, power},
        {metric::kPowerInstant, power + noise(device, sample + 1, 2'000)},
        {metric::kPowerLimit, 700'000},
        {metric::kComputeClock, load > 95 ? 1755 : 1980},
        {metric::kMemoryClock, 2600},
        {metric::kGraphicsClock, load > 95 ? 1755 : 1980},
        {metric::kVideoClock, 1545},
        {metric::kPerformanceState, 0},
        {metric::kClockLimits, load > 95 ? 4 : 0},
    };
    for (const auto& [name, value] : values)
      out.push_back({options_.first_device + device, 0, name, value});
  }
}

void SyntheticHealth::sample_slow(std::vector<MetricValue>& out, std::vector<ProcessUse>& processes,
                                  std::vector<DeviceEvent>& events) {
  const uint64_t sample = slow_samples_++;
  const auto steps = static_cast<int64_t>(sample + 1);
  for (int64_t device = 0; device < options_.devices; ++device) {
    const std::pair<std::string_view, int64_t> values[] = {
        {metric::kEnergy, steps * 300'000 + device},
        {metric::kPcieRx, noise(device, sample, 20'000'000) * 1'000},
        {metric::kPcieTx, noise(device, sample + 1, 20'000'000) * 1'000},
        {metric::kPcieGeneration, 5},
        {metric::kPcieWidth, 16},
        {metric::kEccCorrectedVolatile, steps / 500},
        {metric::kEccUncorrectedVolatile, 0},
    };
    for (const auto& [name, value] : values)
      out.push_back({options_.first_device + device, 0, name, value});
    for (int64_t link = 0; link < kLinkCount; ++link) {
      out.push_back({options_.first_device + device, link, metric::kLinkActive, 1});
      out.push_back(
          {options_.first_device + device, link, metric::kLinkRx, steps * 1'000'000 * (link + 1)});
      out.push_back(
          {options_.first_device + device, link, metric::kLinkTx, steps * 2'000'000 * (link + 1)});
    }
    processes.push_back({options_.first_device + device, 4'000 + device, "synthetic", 10 * kGiB});
  }
  if (sample % kXidEvery == kXidEvery - 1) {
    events.push_back({0, "xid", 31, "synthetic memory page fault"});
  }
}

}  // namespace

std::unique_ptr<HealthSource> make_synthetic_health(const SyntheticOptions& options) {
  return std::make_unique<SyntheticHealth>(options);
}

}  // namespace gpufl::backend
