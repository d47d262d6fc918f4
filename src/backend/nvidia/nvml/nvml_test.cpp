// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>

#include "backend/metric_table.hpp"
#include "backend/nvidia/nvml/gpu_processes.hpp"
#include "backend/nvidia/nvml/nvml_api.hpp"
#include "backend/nvidia/nvml/nvml_health.hpp"
#include "backend/nvidia/nvml/xid.hpp"
#include "base/clock.hpp"

// The real backend over the stand-in libnvidia-ml (tests/standin/nvml/README.md).
namespace gpufl::backend {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20, kGiB = int64_t{1} << 30;

class Nvml : public testing::Test {
 protected:
  ~Nvml() override {
    unsetenv("GPUFL_NVML_LIBRARY");
    unsetenv("GPUFL_NVML_STANDIN");
  }

  static void use(const char* machine, const char* library = GPUFL_STANDIN_NVML) {
    setenv("GPUFL_NVML_LIBRARY", library, 1);
    setenv("GPUFL_NVML_STANDIN", machine, 1);
  }
  void start(const char* machine, const char* library = GPUFL_STANDIN_NVML,
             NvmlHealthOptions options = {}) {
    use(machine, library);
    Availability why;
    auto nvml = NvmlLibrary::open(why);
    ASSERT_NE(nvml, nullptr) << why.detail;
    health_ = make_nvml_health(std::move(nvml), options);
  }
  void sample_fast() {
    values_.clear();
    health_->sample_fast(values_);
  }
  void sample_slow() {
    values_.clear();
    processes_.clear();
    events_.clear();
    health_->sample_slow(values_, processes_, events_);
  }
  std::optional<int64_t> value(std::string_view metric, int64_t device = 0,
                               int64_t index = 0) const {
    for (const MetricValue& v : values_) {
      if (v.metric == metric && v.device == device && v.index == index) return v.value;
    }
    return std::nullopt;
  }
  size_t count(int64_t device) const {
    return static_cast<size_t>(std::count_if(
        values_.begin(), values_.end(), [&](const MetricValue& v) { return v.device == device; }));
  }
  static uint64_t calls(const char* function) {
    unsigned long long (*counter)(const char*) = nullptr;
    const auto library = base::DynamicLibrary::open({GPUFL_STANDIN_NVML});
    EXPECT_TRUE(library.is_ok() && library->load("gpufl_standin_calls", counter));
    return counter(function);
  }
  static unsigned owners() {
    unsigned (*counter)() = nullptr;
    const auto library = base::DynamicLibrary::open({GPUFL_STANDIN_NVML});
    EXPECT_TRUE(library.is_ok() && library->load("gpufl_standin_owners", counter));
    return counter();
  }

  std::unique_ptr<HealthSource> health_;
  std::vector<MetricValue> values_;
  std::vector<ProcessUse> processes_;
  std::vector<DeviceEvent> events_;
};

TEST_F(Nvml, FactsOfEightGpus) {
  start("gpus=8 links=4");
  const auto devices = health_->devices();
  ASSERT_EQ(devices.size(), 8u);
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(devices[static_cast<size_t>(i)].device, i);
  EXPECT_EQ(
      devices[7].to_json().dump(),
      R"({"device":7,"vendor":"nvidia","name":"Stand-in GPU",)"
      R"("uuid":"GPU-00000000-0000-0000-0000-000000000007","pci_bus":"00000000:17:00.0",)"
      R"("driver":"580.00.01","runtime":"13.0","architecture":"sm_90",)"
      R"("compute_units":132,"memory_bytes":85899345920,"power_limit_mw":700000,)"
      R"("max_compute_clock_mhz":1980,"max_memory_clock_mhz":2619,"memory_bus_bits":5120,)"
      R"("pcie_generation_max":5,"pcie_width_max":16,"link_count":4,"slowdown_temperature_c":87,)"
      R"("shutdown_temperature_c":92,"sm_count":132,"max_sm_clock_mhz":1980,)"
      R"("nvlink_count":4,"compute_major":9,"compute_minor":0})");
}

TEST_F(Nvml, FastFieldsOfEveryGpu) {
  start("gpus=8");
  sample_fast();
  for (int64_t gpu = 0; gpu < 8; ++gpu) {
    EXPECT_EQ(value(metric::kGpuUtil, gpu), 10 + gpu);
    EXPECT_EQ(value(metric::kMemoryUtil, gpu), 5 + gpu);
    EXPECT_EQ(value(metric::kMemoryUsed, gpu), (gpu + 1) * kGiB);
    EXPECT_EQ(value(metric::kMemoryFree, gpu), (79 - gpu) * kGiB - 512 * kMiB);
    EXPECT_EQ(value(metric::kMemoryTotal, gpu), 80 * kGiB);
    EXPECT_EQ(value(metric::kTemperature, gpu), 40 + gpu);
    EXPECT_EQ(value(metric::kMemoryTemperature, gpu), 50 + gpu);
    EXPECT_EQ(value(metric::kPower, gpu), 100'000 + 1'000 * gpu);
    EXPECT_EQ(value(metric::kPowerInstant, gpu), 100'500 + 1'000 * gpu);
    EXPECT_EQ(value(metric::kPowerLimit, gpu), 700'000);
    EXPECT_EQ(value(metric::kComputeClock, gpu), 1980);
    EXPECT_EQ(value(metric::kMemoryClock, gpu), 2619);
    EXPECT_EQ(value(metric::kGraphicsClock, gpu), 1965);
    EXPECT_EQ(value(metric::kVideoClock, gpu), 1545);
    EXPECT_EQ(value(metric::kPerformanceState, gpu), 2);
    EXPECT_EQ(value(metric::kClockLimits, gpu), 0x24);
    EXPECT_EQ(count(gpu), 16u);
  }
}

TEST_F(Nvml, SlowFields) {
  start("gpus=2 links=3 fans=2");
  sample_slow();
  EXPECT_EQ(value(metric::kPcieRx, 1), 2'000'000);
  EXPECT_EQ(value(metric::kPcieTx, 1), 3'000'000);
  EXPECT_EQ(value(metric::kPcieGeneration, 1), 4);
  EXPECT_EQ(value(metric::kPcieWidth, 1), 8);
  EXPECT_EQ(value(metric::kPcieReplays, 1), 1);
  EXPECT_EQ(value(metric::kEccCorrectedVolatile, 1), 1);
  EXPECT_EQ(value(metric::kEccCorrectedAggregate, 1), 2);
  EXPECT_EQ(value(metric::kEccUncorrectedVolatile, 1), 3);
  EXPECT_EQ(value(metric::kEccUncorrectedAggregate, 1), 4);
  EXPECT_EQ(value(metric::kRemappedRowsCorrected, 1), 2);
  EXPECT_EQ(value(metric::kRemappedRowsUncorrected, 1), 1);
  EXPECT_EQ(value(metric::kRemappedRowsPending, 1), 1);
  EXPECT_EQ(value(metric::kRemappedRowsFailed, 1), 0);
  EXPECT_EQ(value(metric::kFanSpeed, 1, 0), 30);
  EXPECT_EQ(value(metric::kFanSpeed, 1, 1), 31);
  EXPECT_EQ(value(metric::kEncoderUtil, 1), 11);
  EXPECT_EQ(value(metric::kDecoderUtil, 1), 12);
  EXPECT_EQ(value(metric::kLinkActive, 1, 1), 1);
  EXPECT_EQ(value(metric::kLinkRx, 1, 1), 200 * 1024);
  EXPECT_EQ(value(metric::kLinkTx, 1, 1), 200 * 1024);
  EXPECT_EQ(value(metric::kLinkReplays, 1, 1), 1);
  EXPECT_EQ(value(metric::kLinkRecoveries, 1, 1), 1);
  EXPECT_EQ(value(metric::kLinkCrcErrors, 1, 1), 1);
  EXPECT_EQ(value(metric::kLinkActive, 1, 2), 0);
  EXPECT_EQ(value(metric::kLinkRx, 1, 2), std::nullopt);
  // The stand-in has no page retirement, as GPUs since Ampere.
  EXPECT_EQ(value(metric::kRetiredPagesSingleBit, 1), std::nullopt);
  const auto first = value(metric::kEnergy, 1);
  sample_slow();
  EXPECT_EQ(value(metric::kEnergy, 1), *first + 2'000);
  EXPECT_TRUE(events_.empty());
}

TEST_F(Nvml, EveryMetricIsInTheTableWithItsRate) {
  start("gpus=1 fans=1");
  const auto check = [&](MetricRate rate) {
    for (const MetricValue& v : values_) {
      const MetricSpec* spec = find_metric(MetricScope::Device, v.metric);
      ASSERT_NE(spec, nullptr) << v.metric;
      EXPECT_EQ(spec->rate, rate) << v.metric;
    }
  };
  sample_fast();
  check(MetricRate::Fast);
  sample_slow();
  check(MetricRate::Slow);
}

TEST_F(Nvml, ProcessesWithTheirMemory) {
  start("gpus=2 processes=40");  // more than fit the first buffer
  sample_slow();
  ASSERT_EQ(processes_.size(), 80u);  // each process is in both of NVML's lists, and here once
  EXPECT_EQ(processes_[40].device, 1);
  EXPECT_EQ(processes_[40].pid, getpid());
  EXPECT_EQ(processes_[40].name, "nvidia_test");
  EXPECT_EQ(processes_[40].memory_bytes, 2 * kGiB);
  EXPECT_EQ(processes_[41].memory_bytes, std::nullopt);
  EXPECT_EQ(processes_[41].name, "");
}

TEST_F(Nvml, WhatIsNotSupportedIsAbsentAndAskedOnce) {
  start(
      "gpus=1 fans=1 unsupported=nvmlDeviceGetPowerUsage unsupported=nvmlDeviceGetFanSpeed_v2 "
      "unsupported=82 unsupported=nvmlDeviceGetTotalEccErrors");
  for (int i = 0; i < 3; ++i) {
    sample_fast();
    EXPECT_EQ(value(metric::kPower), std::nullopt);
    EXPECT_EQ(value(metric::kMemoryTemperature), std::nullopt);
    EXPECT_EQ(value(metric::kPowerInstant), 100'500);
    sample_slow();
    EXPECT_EQ(value(metric::kFanSpeed), std::nullopt);
    EXPECT_EQ(value(metric::kEccCorrectedVolatile), std::nullopt);
  }
  EXPECT_EQ(calls("nvmlDeviceGetPowerUsage"), 1u);
  EXPECT_EQ(calls("nvmlDeviceGetFanSpeed_v2"), 1u);
  EXPECT_EQ(calls("82"), 1u);
  EXPECT_EQ(calls("186"), 3u);
  EXPECT_EQ(calls("nvmlDeviceGetTotalEccErrors"), 4u);  // four counters
}

TEST_F(Nvml, APermissionThatIsDeniedIsNotAskedForAgain) {
  start("gpus=1 fail=nvmlDeviceGetClockInfo:4");
  sample_fast();
  sample_fast();
  EXPECT_EQ(value(metric::kComputeClock), std::nullopt);
  EXPECT_EQ(value(metric::kGpuUtil), 10);
  EXPECT_EQ(calls("nvmlDeviceGetClockInfo"), 4u);
}

TEST_F(Nvml, NvmlsNotAvailableIsAbsent) {
  start(
      "gpus=1 unavailable=nvmlDeviceGetPowerUsage unavailable=nvmlDeviceGetPerformanceState "
      "unavailable=82 unavailable=nvmlDeviceGetTotalEnergyConsumption "
      "unavailable=nvmlDeviceGetPcieThroughput unavailable=138 "
      "unavailable=nvmlDeviceGetEnforcedPowerLimit");
  EXPECT_EQ(health_->devices()[0].power_limit_mw, std::nullopt);
  sample_fast();
  EXPECT_EQ(value(metric::kPower), std::nullopt);
  EXPECT_EQ(value(metric::kPerformanceState), std::nullopt);
  EXPECT_EQ(value(metric::kMemoryTemperature), std::nullopt);
  sample_slow();
  EXPECT_EQ(value(metric::kEnergy), std::nullopt);
  EXPECT_EQ(value(metric::kPcieRx), std::nullopt);
  EXPECT_EQ(value(metric::kLinkTx), std::nullopt);
  EXPECT_EQ(value(metric::kLinkRx), 100 * 1024);
}

TEST_F(Nvml, AFailureIsLeftOutOnce) {
  start("gpus=1 fail_once=nvmlDeviceGetTemperature:999 fail_once=82:999");
  sample_fast();
  EXPECT_EQ(value(metric::kTemperature), std::nullopt);
  EXPECT_EQ(value(metric::kMemoryTemperature), std::nullopt);
  EXPECT_EQ(value(metric::kPower), 100'000);
  sample_fast();
  EXPECT_EQ(value(metric::kTemperature), 40);
  EXPECT_EQ(value(metric::kMemoryTemperature), 50);
}

TEST_F(Nvml, MigInstancesAreDevicesWithAParent) {
  start("gpus=2 mig=1:3");
  const auto devices = health_->devices();
  ASSERT_EQ(devices.size(), 5u);
  EXPECT_EQ(devices[1].parent, std::nullopt);
  for (size_t i = 2; i < 5; ++i) {
    EXPECT_EQ(devices[i].device, static_cast<int64_t>(i));
    EXPECT_EQ(devices[i].parent, 1);
    EXPECT_EQ(devices[i].compute_units, 16);
    EXPECT_EQ(devices[i].memory_bytes, 10 * kGiB);
    EXPECT_EQ(devices[i].name, "Stand-in GPU MIG 1g.10gb");
    EXPECT_EQ(devices[i].pci_bus, devices[1].pci_bus);
  }
  sample_fast();
  EXPECT_EQ(value(metric::kGpuUtil, 0), 10);
  EXPECT_EQ(value(metric::kGpuUtil, 1), std::nullopt);  // NVML has none for a GPU in MIG mode
  EXPECT_EQ(value(metric::kTemperature, 1), 41);
  EXPECT_EQ(value(metric::kMemoryUsed, 2), 2 * kGiB);
  EXPECT_EQ(count(2), 3u);
  sample_slow();
  std::multiset<int64_t> owners;
  for (const ProcessUse& use : processes_) owners.insert(use.device);
  EXPECT_EQ(owners, (std::multiset<int64_t>{0, 2, 3, 4}));
}

TEST_F(Nvml, AGpuThatFallsOffTheBusIsAnnouncedOnceAndTheOthersGoOn) {
  start("gpus=3 lost=1:80");
  int lost = 0;
  for (int i = 0; i < 20; ++i) {
    sample_fast();
    EXPECT_EQ(count(0), 16u);
    EXPECT_EQ(count(2), 16u);
    sample_slow();
    for (const DeviceEvent& event : events_) {
      EXPECT_EQ(event.name, "device_lost");
      EXPECT_EQ(event.device, 1);
      EXPECT_EQ(event.code, 15);
      EXPECT_NE(event.text.find("NVML_ERROR_GPU_IS_LOST"), std::string::npos);
      ++lost;
    }
  }
  EXPECT_EQ(lost, 1);
  sample_fast();
  EXPECT_EQ(count(1), 0u);
}

TEST_F(Nvml, ALostGpuIsTriedAgainButSeldom) {
  start("gpus=1 lost=0:60:3", GPUFL_STANDIN_NVML, {.recovery_interval_ns = 5'000'000});
  std::vector<std::string> names;
  const int64_t deadline = base::monotonic_ns() + int64_t{10} * 1'000'000'000;
  while (names.size() < 2 && base::monotonic_ns() < deadline) {
    sample_fast();
    sample_slow();
    for (const DeviceEvent& event : events_) names.push_back(event.name);
  }
  ASSERT_EQ(names, (std::vector<std::string>{"device_lost", "device_recovered"}));
  // Lost for one call of a sampler and two attempts: after 5 ms, and after 10 ms more.
  EXPECT_EQ(calls("nvmlDeviceGetHandleByUUID"), 3u);
  sample_fast();
  EXPECT_EQ(count(0), 16u);
}

TEST_F(Nvml, AGpuThatIsLostFromTheStartIsADeviceAndAnEvent) {
  start("gpus=2 fail=nvmlDeviceGetHandleByIndex_v2@1:15");
  EXPECT_EQ(health_->devices().size(), 2u);
  sample_fast();
  EXPECT_EQ(count(0), 16u);
  EXPECT_EQ(count(1), 0u);
  sample_slow();
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].device, 1);
  EXPECT_EQ(events_[0].name, "device_lost");
}

TEST_F(Nvml, AGpuThatThisUserMayNotSeeIsLeftOut) {
  start("gpus=3 fail=nvmlDeviceGetHandleByIndex_v2@1:4");
  const auto devices = health_->devices();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].device, 2);
  sample_fast();
  EXPECT_EQ(value(metric::kGpuUtil, 2), 12);
}

TEST_F(Nvml, XidEvents) {
  start("gpus=2 xid=1:79 xid=0:13");
  sample_slow();
  ASSERT_EQ(events_.size(), 2u);
  EXPECT_EQ(events_[0].device, 1);
  EXPECT_EQ(events_[0].name, "xid");
  EXPECT_EQ(events_[0].code, 79);
  EXPECT_EQ(events_[0].text, "GPU has fallen off the bus");
  EXPECT_EQ(events_[1].device, 0);
  EXPECT_EQ(events_[1].code, 13);
  sample_slow();
  EXPECT_TRUE(events_.empty());
}

TEST_F(Nvml, XidsWithoutATextKeepTheirNumber) { EXPECT_EQ(xid_text(4711), "Xid 4711"); }

TEST_F(Nvml, AnOldDriverHasFewerFields) {
  start("gpus=1", GPUFL_STANDIN_NVML_OLD);
  sample_fast();
  EXPECT_EQ(value(metric::kClockLimits), 0x4);               // by the function's old name
  EXPECT_EQ(value(metric::kMemoryUsed), kGiB + 512 * kMiB);  // the old one counts the reserve
  EXPECT_EQ(value(metric::kGpuUtil), 10);
  sample_slow();
  EXPECT_TRUE(processes_.empty());
  EXPECT_NE(value(metric::kEnergy), std::nullopt);
}

// Slow calls hold up the slow sampler only.
TEST_F(Nvml, SlowFieldsDoNotDelayFastOnes) {
  start(
      "gpus=8 slow=nvmlDeviceGetPcieThroughput:20000 "
      "slow=nvmlDeviceGetTotalEnergyConsumption:6000");
  std::atomic<bool> started{false}, done{false};
  std::thread slow([&] {
    std::vector<MetricValue> values;
    std::vector<ProcessUse> processes;
    std::vector<DeviceEvent> events;
    started = true;
    health_->sample_slow(values, processes, events);
    done = true;
  });
  while (!started) std::this_thread::yield();
  int fast_samples = 0;
  for (; !done; ++fast_samples) sample_fast();
  slow.join();
  EXPECT_GT(fast_samples, 3);  // the slow one takes 8 * 46 ms
  EXPECT_EQ(count(7), 16u);
}

TEST_F(Nvml, ACallThatHangsHoldsUpItsOwnSamplerOnly) {
  start("gpus=1 slow=nvmlDeviceGetTotalEnergyConsumption:700000");
  std::atomic<bool> done{false};
  std::thread slow([&] {
    std::vector<MetricValue> values;
    std::vector<ProcessUse> processes;
    std::vector<DeviceEvent> events;
    health_->sample_slow(values, processes, events);
    done = true;
  });
  sample_fast();
  EXPECT_EQ(count(0), 16u);
  EXPECT_FALSE(done);
  slow.join();
}

TEST_F(Nvml, EveryInitHasItsShutdown) {
  for (int i = 0; i < 100; ++i) {
    start("gpus=2");
    sample_fast();
    sample_slow();
    EXPECT_EQ(owners(), 1u);
    health_.reset();
    EXPECT_EQ(owners(), 0u);
  }
}

TEST_F(Nvml, RefusalsHaveAReasonAndWords) {
  const std::pair<const char*, const char*> cases[] = {
      {"init=9", "driver_not_loaded"}, {"init=18", "version_mismatch"},
      {"init=4", "permission_denied"}, {"init=17", "blocked_by_system"},
      {"init=999", "nvml_error"},
  };
  for (const auto& [machine, reason] : cases) {
    use(machine);
    Availability why;
    EXPECT_EQ(NvmlLibrary::open(why), nullptr) << machine;
    EXPECT_FALSE(why.available);
    EXPECT_EQ(why.reason, reason);
    EXPECT_NE(why.detail.find("nvmlInit_v2()"), std::string::npos) << why.detail;
    EXPECT_NE(why.detail.find("NVML_ERROR_"), std::string::npos) << why.detail;
  }
}

TEST_F(Nvml, ALibraryThatIsMissingOrNotNvml) {
  Availability why;
  use("", "/nonexistent/libnvidia-ml.so.1");
  EXPECT_EQ(NvmlLibrary::open(why), nullptr);
  EXPECT_EQ(why.reason, "library_not_found");
  use("", "libm.so.6");
  EXPECT_EQ(NvmlLibrary::open(why), nullptr);
  EXPECT_EQ(why.reason, "driver_too_old");
  EXPECT_NE(why.detail.find("nvmlInit_v2"), std::string::npos);
}

TEST_F(Nvml, TheBackendAnswersForTheMachine) {
  use("gpus=3");
  {
    const OpenedBackends found = make_backends("auto");
    ASSERT_EQ(found.list.size(), 1u);
    EXPECT_EQ(found.list[0].backend->name(), "nvidia");
    EXPECT_EQ(found.list[0].health.detail, "3 GPU(s), driver 580.00.01, CUDA 13.0");
    EXPECT_TRUE(found.list[0].backend->make_health_source().is_ok());
  }
  use("gpus=0");
  const OpenedBackends none = make_backends("auto");
  EXPECT_TRUE(none.list.empty());
  ASSERT_EQ(none.refused.size(), 1u);
  EXPECT_EQ(none.refused[0].why.reason, "no_gpu");
  const OpenedBackends named = make_backends("nvidia");
  ASSERT_EQ(named.list.size(), 1u);
  EXPECT_EQ(named.list[0].backend->make_health_source().status().code(), base::Code::Unavailable);
}

TEST_F(Nvml, DevicesAreNumberedBehindThoseOfOthers) {
  use("gpus=2");
  const OpenedBackends found = make_backends("nvidia");
  ASSERT_EQ(found.list.size(), 1u);
  found.list[0].backend->number_devices_from(3);
  auto health = found.list[0].backend->make_health_source();
  ASSERT_TRUE(health.is_ok());
  const std::vector<DeviceFacts> devices = (*health)->devices();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].device, 3);
  EXPECT_EQ(devices[1].device, 4);
  std::vector<MetricValue> values;
  (*health)->sample_fast(values);
  ASSERT_FALSE(values.empty());
  for (const MetricValue& value : values) EXPECT_GE(value.device, 3);
}

TEST_F(Nvml, StatusHasTheCallTheNameAndTheNumber) {
  use("gpus=1 fail=nvmlDeviceGetCount_v2:4");
  Availability why;
  const auto nvml = NvmlLibrary::open(why);
  ASSERT_NE(nvml, nullptr);
  unsigned count = 0;
  const base::Status status = GPUFL_NVML(nvml->api(), nvmlDeviceGetCount_v2(&count));
  EXPECT_EQ(status.code(), base::Code::PermissionDenied);
  EXPECT_EQ(
      status.message(),
      "nvmlDeviceGetCount_v2(&count): Insufficient Permissions (NVML_ERROR_NO_PERMISSION, 4)");
  EXPECT_EQ(nvml_name(static_cast<nvmlReturn_t>(77)), "NVML_ERROR_77");
}

}  // namespace
}  // namespace gpufl::backend
