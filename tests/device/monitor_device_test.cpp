// SPDX-License-Identifier: Apache-2.0
// The Monitor engine on a real GPU: the NVML backend against what the machine is known to be, and
// the programs that stand on it.

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "backend/backend.hpp"
#include "backend/metric_table.hpp"
#include "base/eventually.hpp"
#include "base/json.hpp"
#include "tests/device/programs.hpp"

namespace gpufl::device_test {
namespace {

using namespace std::chrono_literals;
namespace metric = backend::metric;

class MonitorDevice : public testing::Test {
 protected:
  void SetUp() override {
    backend::OpenedBackends found = backend::make_backends("nvidia");
    ASSERT_EQ(found.list.size(), 1u);
    const backend::Availability& why = found.list[0].health;
    ASSERT_TRUE(why.available) << why.reason << ": " << why.detail;
    backend_ = std::move(found.list[0].backend);
    auto source = backend_->make_health_source();
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    health_ = std::move(source.value());
    devices_ = health_->devices();
    ASSERT_FALSE(devices_.empty());
  }

  std::optional<int64_t> read_fast(std::string_view name, int64_t device = 0) {
    std::vector<backend::MetricValue> values;
    health_->sample_fast(values);
    return find(values, name, device);
  }

  static std::optional<int64_t> find(const std::vector<backend::MetricValue>& values,
                                     std::string_view name, int64_t device) {
    for (const backend::MetricValue& value : values) {
      if (value.metric == name && value.device == device) return value.value;
    }
    return std::nullopt;
  }

  std::unique_ptr<backend::Backend> backend_;
  std::unique_ptr<backend::HealthSource> health_;
  std::vector<backend::DeviceFacts> devices_;
};

std::vector<std::string> program(std::string_view name, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), (bin_folder() / name).string());
  return arguments;
}

TEST_F(MonitorDevice, FactsAreComplete) {
  for (const backend::DeviceFacts& facts : devices_) {
    EXPECT_EQ(facts.vendor, "nvidia");
    EXPECT_NE(facts.name, "");
    EXPECT_TRUE(facts.uuid.starts_with("GPU-") || facts.uuid.starts_with("MIG-")) << facts.uuid;
    EXPECT_NE(facts.driver, "");
    if (facts.parent) continue;  // a MIG instance knows less
    EXPECT_NE(facts.pci_bus, "");
    EXPECT_GT(facts.compute_units.value_or(0), 0);
    EXPECT_GT(facts.memory_bytes.value_or(0), int64_t{1} << 30);
    EXPECT_TRUE(facts.architecture.starts_with("sm_")) << facts.architecture;
    EXPECT_GT(facts.power_limit_mw.value_or(0), 10'000);
    EXPECT_GT(facts.max_compute_clock_mhz.value_or(0), 300);
  }
}

TEST_F(MonitorDevice, FactsAgreeWithTheDriversOwnTool) {
  const Outcome smi = run({"nvidia-smi", "--query-gpu=uuid,name", "--format=csv,noheader"});
  if (smi.exit_code == 127) GTEST_SKIP() << "no nvidia-smi";
  ASSERT_EQ(smi.exit_code, 0) << smi.output;
  for (const backend::DeviceFacts& facts : devices_) {
    if (facts.parent) continue;
    EXPECT_NE(smi.output.find(facts.uuid + ", " + facts.name), std::string::npos) << smi.output;
  }
}

TEST_F(MonitorDevice, SamplesArePlausible) {
  std::vector<backend::MetricValue> values;
  health_->sample_fast(values);
  for (const backend::DeviceFacts& facts : devices_) {
    if (facts.parent) continue;
    const auto value = [&](std::string_view name) { return find(values, name, facts.device); };
    const auto within = [&](std::string_view name, int64_t low, int64_t high) {
      ASSERT_TRUE(value(name)) << name;
      EXPECT_GE(*value(name), low) << name;
      EXPECT_LE(*value(name), high) << name;
    };
    within(metric::kGpuUtil, 0, 100);
    within(metric::kMemoryUtil, 0, 100);
    within(metric::kTemperature, 10, 110);
    within(metric::kPower, 1'000, 2'000'000);
    within(metric::kComputeClock, 100, facts.max_compute_clock_mhz.value_or(0));
    within(metric::kMemoryTotal, *facts.memory_bytes, *facts.memory_bytes);
    within(metric::kMemoryUsed, 0, *facts.memory_bytes);
  }
}

TEST_F(MonitorDevice, EnergyGrowsWithTime) {
  const auto energy = [&] {
    std::vector<backend::MetricValue> values;
    std::vector<backend::ProcessUse> processes;
    std::vector<backend::DeviceEvent> events;
    health_->sample_slow(values, processes, events);
    return find(values, metric::kEnergy, 0);
  };
  const std::optional<int64_t> before = energy();
  ASSERT_TRUE(before);
  std::this_thread::sleep_for(1500ms);
  // An idle data-centre GPU draws tens of watts.
  EXPECT_GT(energy().value_or(0), *before + 1'000);
}

TEST_F(MonitorDevice, LoadShowsInUtilisationMemoryAndPower) {
  const std::optional<int64_t> idle_memory = read_fast(metric::kMemoryUsed);
  const std::optional<int64_t> idle_power = read_fast(metric::kPower);
  ASSERT_TRUE(idle_memory && idle_power);

  const Background load(program("gpu_load", {"60"}));
  ASSERT_EQ(load.first_line(), "ready") << "gpu_load is built with GPUFL_CUDA only";
  EXPECT_GT(read_fast(metric::kMemoryUsed).value_or(0), *idle_memory + (int64_t{1} << 30) - 1);
  // NVML averages these over a second or so.
  EXPECT_TRUE(base::eventually([&] { return read_fast(metric::kGpuUtil).value_or(0) > 50; }));
  EXPECT_TRUE(
      base::eventually([&] { return read_fast(metric::kPower).value_or(0) > *idle_power; }));
}

TEST_F(MonitorDevice, FastSampleFitsItsRate) {
  const auto start = std::chrono::steady_clock::now();
  constexpr int kSamples = 20;
  for (int i = 0; i < kSamples; ++i) {
    std::vector<backend::MetricValue> values;
    health_->sample_fast(values);
  }
  const auto each = (std::chrono::steady_clock::now() - start) / kSamples;
  EXPECT_LT(each, 25ms) << "half of the 50 ms at which programs sample";
}

TEST(MonitorPrograms, InfoNamesEveryGpu) {
  const Outcome info = run(program("gpufl", {"info", "--json"}));
  ASSERT_EQ(info.exit_code, 0) << info.output;
  const auto parsed = base::Json::parse(info.output);
  ASSERT_TRUE(parsed.is_ok()) << info.output;
  EXPECT_NE(info.output.find("\"GPU-"), std::string::npos) << info.output;
}

TEST(MonitorPrograms, DoctorFindsNvml) {
  const Outcome doctor = run(program("gpufl", {"doctor", "--json"}));
  EXPECT_LE(doctor.exit_code, 1) << doctor.output;  // 1: something else is missing here
  ASSERT_TRUE(base::Json::parse(doctor.output).is_ok()) << doctor.output;
  EXPECT_NE(doctor.output.find("nvml"), std::string::npos) << doctor.output;
}

TEST(MonitorPrograms, MonitorLeavesACompleteSession) {
  const TemporaryFolder folder;
  ASSERT_FALSE(folder.path().empty());
  const std::string logs = (folder.path() / "logs").string();
  const Outcome monitor = run(
      program("gpufl", {"monitor", "--duration", "2s", "--interval", "50ms", "--output", logs}));
  ASSERT_EQ(monitor.exit_code, 0) << monitor.output;
  const Outcome verify = run(program("gpufl", {"verify", logs}));
  EXPECT_EQ(verify.exit_code, 0) << verify.output;
}

}  // namespace
}  // namespace gpufl::device_test
