// SPDX-License-Identifier: Apache-2.0
#include "cli/prometheus.hpp"

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "analysis/summary/metric_series.hpp"
#include "format/former_names.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

namespace metric = backend::metric;
using backend::MetricType;

capture::MetricBoard example_board() {
  capture::MetricBoard board;
  backend::DeviceFacts gpu;
  gpu.device = 0;
  gpu.name = "A \"B\" \\C";
  gpu.uuid = "GPU-1";
  gpu.driver = "550.54";
  gpu.pci_bus = "0000:01:00.0";
  board.devices.push_back(gpu);
  backend::DeviceFacts mig = gpu;
  mig.device = 3;
  mig.parent = 0;
  mig.uuid = "MIG-1";
  board.devices.push_back(mig);
  board.device_values = {
      {0, 0, metric::kGpuUtil, 54},         {3, 0, metric::kGpuUtil, 7},
      {0, 0, metric::kPower, 312'345},      {0, 0, metric::kComputeClock, 1980},
      {0, 0, metric::kEnergy, 123'456'789}, {0, 2, metric::kLinkRx, 9'007'199'254'740'993},
      {0, 0, metric::kClockLimits, 0x44},   {0, 0, metric::kEccUncorrectedVolatile, 2},
  };
  board.host_values = {{0, 0, metric::kCpuUtil, 250}, {0, 5, metric::kCpuCoreUtil, 1000}};
  board.processes = {{0, 42, "evil\n\x1b\"p\"\xff", 1 << 20}, {0, 43, "unknown", std::nullopt}};
  board.event_counts = {{"xid", 3}};
  board.samples_taken = 10;
  board.samples_missed = 1;
  board.log.dropped = {{"disk_floor", 312}};
  board.log.paused = "disk_floor";
  return board;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

// Once, and once more where it has a former name.
TEST(Prometheus, EveryMetricOfTheLogIsMapped) {
  std::multiset<std::pair<backend::MetricScope, std::string_view>> mapped;
  for (const auto& row : prometheus_table()) mapped.insert({row.scope, row.metric});
  for (const auto& spec : backend::metric_table()) {
    const bool has_former = format::former_name(format::kFormerMetrics, spec.name) != spec.name;
    EXPECT_EQ(mapped.count({spec.scope, spec.name}), has_former ? 2u : 1u) << spec.name;
  }
  EXPECT_EQ(mapped.size(), backend::metric_table().size() + format::kFormerMetrics.size())
      << "no row for a metric that is gone";
}

TEST(Prometheus, NamesFollowTheConventions) {
  const std::regex name("gpufl_(gpu|host|process)_[a-z0-9]+(_[a-z0-9]+)*");
  std::string_view before;
  std::set<std::string_view> closed;
  for (const auto& row : prometheus_table()) {
    const std::string family(row.family);
    EXPECT_TRUE(std::regex_match(family, name)) << family;
    const auto* spec = backend::find_metric(row.scope, row.metric);
    ASSERT_NE(spec, nullptr) << row.metric;
    EXPECT_EQ(family.ends_with("_total"), spec->type == MetricType::Counter) << family;
    for (const char* unit : {"_pct", "_permille", "_percent", "_mw", "_mj", "_mhz", "_ms", "_bits",
                             "_count", "_milli", "_per_s"}) {
      EXPECT_FALSE(family.ends_with(unit)) << family << " is not in a base unit";
    }
    if (spec->unit == "percent" || spec->unit == "permille") {
      EXPECT_TRUE(family.ends_with("_ratio")) << family;
    }
    if (row.family != before) {
      EXPECT_TRUE(closed.insert(row.family).second) << family << ": rows must stand together";
    }
    before = row.family;
  }
}

TEST(Prometheus, ValuesAreInBaseUnitsWithLabels) {
  const std::string text = prometheus_text(example_board(), {});
  EXPECT_TRUE(has_line(text, R"(gpufl_gpu_utilization_ratio{gpu="0",uuid="GPU-1"} 0.54)")) << text;
  EXPECT_TRUE(has_line(text, R"(gpufl_gpu_utilization_ratio{gpu="0",mig="3",uuid="MIG-1"} 0.07)"));
  EXPECT_TRUE(has_line(text, R"(gpufl_gpu_power_watts{gpu="0",uuid="GPU-1"} 312.345)"));
  EXPECT_TRUE(has_line(text, R"(gpufl_gpu_sm_clock_hertz{gpu="0",uuid="GPU-1"} 1980000000)"));
  EXPECT_TRUE(has_line(text, R"(gpufl_gpu_energy_joules_total{gpu="0",uuid="GPU-1"} 123456.789)"));
  EXPECT_TRUE(has_line(
      text,
      R"(gpufl_gpu_nvlink_receive_bytes_total{gpu="0",uuid="GPU-1",link="2"} 9007199254740993)"));
  EXPECT_TRUE(has_line(
      text, R"(gpufl_gpu_ecc_volatile_errors_total{gpu="0",uuid="GPU-1",error="uncorrected"} 2)"));
  EXPECT_TRUE(has_line(text,
                       "# HELP gpufl_gpu_ecc_volatile_errors_total Memory errors since the "
                       "driver was loaded"));
  EXPECT_TRUE(has_line(text, "gpufl_host_cpu_utilization_ratio 0.25"));
  EXPECT_TRUE(has_line(text, R"(gpufl_host_cpu_core_utilization_ratio{core="5"} 1)"));
  EXPECT_TRUE(has_line(text, R"(gpufl_device_events_total{event="xid"} 3)"));
  EXPECT_TRUE(has_line(text, "gpufl_samples_total 10"));
  EXPECT_TRUE(has_line(text, "gpufl_samples_missed_total 1"));
  EXPECT_TRUE(has_line(text, "gpufl_log_paused 1"));
  EXPECT_TRUE(has_line(text, R"(gpufl_rows_dropped_total{reason="disk_floor"} 312)"));
  EXPECT_TRUE(has_line(text, R"(gpufl_rows_dropped_total{reason="io_error"} 0)"));
  EXPECT_TRUE(has_line(text, "gpufl_gpus 2"));
  EXPECT_TRUE(has_line(text, R"(gpufl_gpu_info{gpu="0",uuid="GPU-1",name="A \"B\" \\C",)"
                             R"(driver="550.54",pci_bus="0000:01:00.0"} 1)"));
}

TEST(Prometheus, OneSeriesPerThrottleReason) {
  const std::string text = prometheus_text(example_board(), {});
  const auto series = [](const char* reason) {
    return R"(gpufl_gpu_throttle_reason{gpu="0",uuid="GPU-1",reason=")" + std::string(reason) +
           R"("} )";
  };
  EXPECT_TRUE(has_line(text, series("sw_power_cap") + "1"));
  EXPECT_TRUE(has_line(text, series("hw_thermal") + "1"));
  EXPECT_TRUE(has_line(text, series("gpu_idle") + "0"));
}

TEST(Prometheus, AbsentIsAbsent) {
  const std::string text = prometheus_text({}, {});
  EXPECT_EQ(text.find("gpufl_gpu_"), std::string::npos) << text;
  EXPECT_EQ(text.find("gpufl_host_"), std::string::npos);
  EXPECT_TRUE(has_line(text, "gpufl_gpus 0"));
  EXPECT_TRUE(has_line(text, "gpufl_samples_total 0"));
  EXPECT_TRUE(has_line(text, "gpufl_log_paused 0"));
}

TEST(Prometheus, ProcessesOnlyWhenAskedForAndHarmless) {
  EXPECT_EQ(prometheus_text(example_board(), {}).find("process_memory"), std::string::npos);
  const std::string text = prometheus_text(example_board(), {.processes = true});
  EXPECT_TRUE(has_line(text, R"(gpufl_gpu_process_memory_bytes{gpu="0",uuid="GPU-1",pid="42",)"
                             R"(process="evil??\"p\"?"} 1048576)"))
      << text;
  EXPECT_EQ(text.find("pid=\"43\""), std::string::npos) << "memory unknown, not zero";
}

TEST(Prometheus, HelpAndTypeOncePerFamilyBeforeItsSamples) {
  const std::string text = prometheus_text(example_board(), {.processes = true});
  std::set<std::string> typed;
  std::string current;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      current = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(typed.insert(current).second) << current << " twice";
    } else if (!line.starts_with("#")) {
      EXPECT_EQ(line.substr(0, line.find_first_of("{ ")), current);
    }
  }
  EXPECT_GT(typed.size(), 12u);
}

// Names of metrics in the first column of the page's tables.
std::set<std::string> documented_families() {
  std::ifstream page(GPUFL_DOCS_DIR "/reference/prometheus.md");
  EXPECT_TRUE(page.good());
  std::set<std::string> names;
  for (std::string line; std::getline(page, line);) {
    constexpr std::string_view kRow = "| `gpufl_";
    if (line.starts_with(kRow)) names.insert(line.substr(3, line.find('`', 3) - 3));
  }
  return names;
}

TEST(Prometheus, ThePageListsExactlyWhatIsServed) {
  capture::MetricBoard board = example_board();
  board.device_values.clear();
  board.host_values.clear();
  for (const auto& row : prometheus_table()) {
    const bool is_device = row.scope == backend::MetricScope::Device;
    (is_device ? board.device_values : board.host_values).push_back({0, 0, row.metric, 1});
  }
  std::set<std::string> served;
  std::istringstream lines(prometheus_text(board, {.processes = true}));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) served.insert(line.substr(7, line.find(' ', 7) - 7));
  }
  EXPECT_EQ(documented_families(), served);
}

// analysis and report know metrics by their names alone; the backends' table is what they must fit.
TEST(MetricNamesTest, SayTheirUnitAndWhetherTheyGrow) {
  for (const backend::MetricSpec& metric : backend::metric_table()) {
    EXPECT_EQ(analysis::is_cumulative(metric.name), metric.type == backend::MetricType::Counter)
        << metric.name;
    const bool has_unit = !metric.unit.empty();
    const bool is_stripped = text::metric_label(metric.name) != metric.name;
    EXPECT_EQ(is_stripped, has_unit || metric.name.ends_with("_count")) << metric.name;
  }
}

}  // namespace
}  // namespace gpufl::cli
