// SPDX-License-Identifier: Apache-2.0
#include "capture/host_metrics.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>

#include "backend/metric_table.hpp"
#include "base/clock.hpp"
#include "capture/text_scanner.hpp"

namespace {
std::atomic<uint64_t> allocations{0};
}

// Not inlined: a compiler that saw malloc and free inside would take them for a mismatched pair.
[[gnu::noinline]] void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace gpufl::capture {
namespace {

namespace fs = std::filesystem;
namespace metric = backend::metric;
constexpr int64_t kSecondNs = 1'000'000'000;

class HostMetricsTest : public testing::Test {
 protected:
  HostMetricsTest() {
    char path[] = "/tmp/gpufl-host-XXXXXX";
    root_ = mkdtemp(path);
    write("proc/stat",
          "cpu  100 0 100 700 100 0 0 0 0 0\n"
          "cpu0 50 0 50 350 50 0 0 0 0 0\n"
          "cpu2 50 0 50 350 50 0 0 0 0 0\n"
          "intr 12345 0 0\n");
    write("proc/loadavg", "0.42 1.05 12.00 1/234 5678\n");
    write("proc/meminfo",
          "MemTotal:       1000 kB\nMemFree:         200 kB\nMemAvailable:    600 kB\n"
          "Buffers:          50 kB\nCached:          300 kB\nSwapCached:        9 kB\n"
          "Shmem:            30 kB\nSReclaimable:     40 kB\nSwapTotal:       500 kB\n"
          "SwapFree:        400 kB\n");
    write("proc/self/statm", "5000 1234 100 1 0 300 0\n");
    write_network(1'000, 2'000);
    write_disks(100, 200);
    for (const char* block : {"sda", "nvme0n1", "loop0", "dm-0/slaves/sda"}) {
      fs::create_directories(root_ / "sys/block" / block);
    }
  }
  ~HostMetricsTest() override { fs::remove_all(root_); }

  // In place, as /proc does: the sampler keeps its files open.
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void write_network(int64_t rx, int64_t tx) {
    const auto line = [](const std::string& name, int64_t received, int64_t sent) {
      return name + ": " + std::to_string(received) + " 1 0 0 0 0 0 0 " + std::to_string(sent) +
             " 1 0 0 0 0 0 0\n";
    };
    write("proc/net/dev",
          "Inter-|   Receive                            |  Transmit\n"
          " face |bytes    packets errs drop fifo frame compressed multicast|bytes\n" +
              line("    lo", 777 * rx, 777 * tx) + line("  eth0", rx, tx) + line("  eth1", 5, 6));
  }
  void write_disks(int64_t read_sectors, int64_t written_sectors) {
    const auto line = [&](const std::string& name) {
      return "   8       0 " + name + " 10 0 " + std::to_string(read_sectors) + " 5 20 0 " +
             std::to_string(written_sectors) + " 7 0 0 0\n";
    };
    write("proc/diskstats",
          line("sda") + line("sda1") + line("nvme0n1") + line("loop0") + line("dm-0"));
  }

  static std::optional<int64_t> find(const std::vector<backend::MetricValue>& values,
                                     std::string_view name, int64_t index = 0) {
    for (const auto& v : values) {
      if (v.metric == name && v.index == index) return v.value;
    }
    return std::nullopt;
  }

  fs::path root_;
};

TEST_F(HostMetricsTest, LevelsComeWithTheFirstSampleAndRatesDoNot) {
  HostMetrics metrics(root_.string());
  std::vector<backend::MetricValue> out;
  metrics.sample(kSecondNs, out);
  EXPECT_EQ(find(out, metric::kLoad1), 420);
  EXPECT_EQ(find(out, metric::kLoad5), 1'050);
  EXPECT_EQ(find(out, metric::kLoad15), 12'000);
  EXPECT_EQ(find(out, metric::kRamTotal), 1000 * 1024);
  EXPECT_EQ(find(out, metric::kRamUsed), (1000 - 200 - 50 - 300 - 40 + 30) * 1024);
  EXPECT_EQ(find(out, metric::kRamAvailable), 600 * 1024);
  EXPECT_EQ(find(out, metric::kSwapTotal), 500 * 1024);
  EXPECT_EQ(find(out, metric::kSwapUsed), 100 * 1024);
  EXPECT_EQ(find(out, metric::kProcessRss), 1234 * sysconf(_SC_PAGESIZE));
  for (const auto name :
       {metric::kCpuUtil, metric::kCpuCoreUtil, metric::kProcessCpu, metric::kNetworkRx,
        metric::kNetworkTx, metric::kDiskRead, metric::kDiskWrite}) {
    EXPECT_EQ(find(out, name), std::nullopt) << name;
  }
}

TEST_F(HostMetricsTest, RatesAreGrowthOverTime) {
  HostMetrics metrics(root_.string());
  std::vector<backend::MetricValue> out;
  metrics.sample(kSecondNs, out);
  write("proc/stat",
        "cpu  130 0 110 730 130 0 0 0 0 0\n"
        "cpu0 80 0 60 350 50 0 0 0 0 0\n"
        "cpu2 50 0 50 380 80 0 0 0 0 0\n"
        "intr 12399 0 0\n");
  write_network(1'500, 2'100);
  write_disks(110, 204);
  out.clear();
  metrics.sample(kSecondNs + kSecondNs / 2, out);
  EXPECT_EQ(find(out, metric::kCpuUtil), 400);
  EXPECT_EQ(find(out, metric::kCpuCoreUtil, 0), 1000);
  EXPECT_EQ(find(out, metric::kCpuCoreUtil, 1), std::nullopt);
  EXPECT_EQ(find(out, metric::kCpuCoreUtil, 2), 0);
  EXPECT_EQ(find(out, metric::kNetworkRx), 1'000);
  EXPECT_EQ(find(out, metric::kNetworkTx), 200);
  // Two whole disks: neither the partition nor the loop device nor the layer counts.
  EXPECT_EQ(find(out, metric::kDiskRead), 2 * 10 * 512 * 2);
  EXPECT_EQ(find(out, metric::kDiskWrite), 2 * 4 * 512 * 2);
  EXPECT_NE(find(out, metric::kProcessCpu), std::nullopt);
}

TEST_F(HostMetricsTest, ACounterThatGoesBackIsLeftOut) {
  HostMetrics metrics(root_.string());
  std::vector<backend::MetricValue> out;
  metrics.sample(kSecondNs, out);
  write_network(10, 5'000);
  out.clear();
  metrics.sample(2 * kSecondNs, out);
  EXPECT_EQ(find(out, metric::kNetworkRx), std::nullopt);
  EXPECT_EQ(find(out, metric::kNetworkTx), 3'000);
  write_network(30, 5'000);
  out.clear();
  metrics.sample(3 * kSecondNs, out);
  EXPECT_EQ(find(out, metric::kNetworkRx), 20);
}

TEST_F(HostMetricsTest, AFileThatIsNotThereLeavesItsMetricsOut) {
  HostMetrics metrics("/nonexistent");
  std::vector<backend::MetricValue> out;
  metrics.sample(kSecondNs, out);
  metrics.sample(2 * kSecondNs, out);
  ASSERT_EQ(out.size(), 1u);  // the process's CPU time is no file
  EXPECT_EQ(out[0].metric, metric::kProcessCpu);
}

TEST_F(HostMetricsTest, SurvivesNonsense) {
  for (const char* file : {"stat", "loadavg", "meminfo", "self/statm", "net/dev", "diskstats"}) {
    write(std::string("proc/") + file, "cpu cpuX :::: \n\n  : 1 x\nMemTotal: lots\n cpu9");
  }
  HostMetrics metrics(root_.string());
  std::vector<backend::MetricValue> out;
  metrics.sample(kSecondNs, out);
  EXPECT_EQ(find(out, metric::kRamTotal), std::nullopt);
  EXPECT_EQ(find(out, metric::kLoad1), std::nullopt);
}

TEST_F(HostMetricsTest, FactsWithTheControlGroupsLimits) {
  write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Test CPU 9000\n");
  write("proc/self/cgroup", "0::/app\n");
  write("sys/fs/cgroup/app/cgroup.procs", "1\n");
  write("sys/fs/cgroup/app/memory.max", "1048576\n");
  write("sys/fs/cgroup/app/cpu.max", "250000 100000\n");
  const HostMetrics metrics(root_.string());
  EXPECT_EQ(metrics.facts().to_json().dump(),
            R"({"core_count":2,"cpu_model":"Test CPU 9000","ram_total_bytes":1024000,)"
            R"("cgroup_memory_limit_bytes":1048576,"cgroup_cpu_limit_permille":2500})");
}

TEST_F(HostMetricsTest, NoLimitIsNoFact) {
  write("proc/self/cgroup", "3:memory:/outside\n2:cpu,cpuacct:/outside\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  const HostFacts facts = HostMetrics(root_.string()).facts();
  EXPECT_EQ(facts.cgroup_memory_limit_bytes, std::nullopt);
  EXPECT_EQ(facts.cgroup_cpu_limit_permille, std::nullopt);
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  const HostFacts limited = HostMetrics(root_.string()).facts();
  EXPECT_EQ(limited.cgroup_memory_limit_bytes, 4096);
  EXPECT_EQ(limited.cgroup_cpu_limit_permille, 500);
}

TEST(HostMetrics, TheRealMachineWithoutAllocatingOnceWarm) {
  HostMetrics metrics;
  std::vector<backend::MetricValue> out;
  out.reserve(10'000);
  metrics.sample(base::monotonic_ns(), out);
  usleep(30'000);
  metrics.sample(base::monotonic_ns(), out);
  for (const auto& value : out) {
    EXPECT_NE(backend::find_metric(backend::MetricScope::Host, value.metric), nullptr);
    EXPECT_GE(value.value, 0) << value.metric;
  }
  const uint64_t before = allocations.load();
  for (int i = 0; i < 10; ++i) {
    out.clear();
    metrics.sample(base::monotonic_ns(), out);
  }
  EXPECT_EQ(allocations.load(), before);
  EXPECT_GT(metrics.facts().core_count, 0);
}

TEST(TextScanner, StopsAtTheEndOfItsText) {
  TextScanner lines("a 1\n\nlast");
  EXPECT_EQ(lines.line(), "a 1");
  EXPECT_EQ(lines.line(), "");
  EXPECT_EQ(lines.line(), "last");
  EXPECT_EQ(lines.line(), std::nullopt);
  TextScanner fields("x 12y");
  EXPECT_EQ(fields.number(), std::nullopt);
  EXPECT_EQ(fields.word(), "x");
  EXPECT_EQ(fields.number(), 12u);
  EXPECT_EQ(fields.word(), "y");
  EXPECT_EQ(fields.word(), "");
}

// A bridge over eth0, say: its bytes are eth0's.
TEST_F(HostMetricsTest, OnlyNetworkCardsCountWhereThereAreAny) {
  fs::create_directories(root_ / "sys/class/net/eth1/device");
  fs::create_directories(root_ / "sys/class/net/eth0");
  HostMetrics metrics(root_.string());
  std::vector<backend::MetricValue> out;
  metrics.sample(kSecondNs, out);
  write_network(9'000, 9'000);  // of eth0; eth1 stands still
  out.clear();
  metrics.sample(2 * kSecondNs, out);
  EXPECT_EQ(find(out, metric::kNetworkRx), 0);
  EXPECT_EQ(find(out, metric::kNetworkTx), 0);
}

}  // namespace
}  // namespace gpufl::capture
