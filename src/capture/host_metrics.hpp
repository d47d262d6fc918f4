// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "base/json.hpp"

// Health of the machine, from /proc. Files stay open and are read in place: a sample costs some
// ten system calls and, once warm, no allocation. One thread at a time. What the system does not
// tell is absent; utilisations and rates need two samples and appear with the second.
namespace gpufl::capture {

struct HostFacts {
  int64_t core_count = 0;
  std::string cpu_model;
  std::optional<int64_t> ram_total_bytes;
  // What the control group of this process allows, where it limits anything.
  std::optional<int64_t> cgroup_memory_limit_bytes, cgroup_cpu_limit_permille;
  base::Json to_json() const;
};

class HostMetrics {
 public:
  // `root` stands before /proc and /sys: a folder of a test's own, or empty.
  explicit HostMetrics(std::string root = "");
  ~HostMetrics();
  HostMetrics(const HostMetrics&) = delete;
  HostMetrics& operator=(const HostMetrics&) = delete;

  HostFacts facts() const;
  // Appends, at `now_ns` of the monotonic clock.
  void sample(int64_t now_ns, std::vector<backend::MetricValue>& out);

 private:
  using Values = std::vector<backend::MetricValue>;

  // Busy and total time of the machine (index 0) and of each core (number + 1).
  struct CpuTimes {
    uint64_t busy = 0, total = 0;
  };
  // A counter whose growth per second is a metric.
  struct Rate {
    std::optional<int64_t> value;
    int64_t time_ns = 0;
    // What it grew per second; nothing the first time, or when it went backwards.
    std::optional<int64_t> update(int64_t now, int64_t now_ns);
  };
  struct Disk {
    std::string name;
    bool whole;  // not a partition, nor a layer over other disks
  };

  std::string_view read(int fd);
  void sample_cpu(Values& out);
  void sample_load(Values& out);
  void sample_memory(Values& out);
  void sample_process(int64_t now_ns, Values& out);
  void sample_network(int64_t now_ns, Values& out);
  void sample_disks(int64_t now_ns, Values& out);
  bool is_whole_disk(std::string_view name);
  bool is_network_card(std::string_view name) const;

  const std::string root_;
  const int64_t page_bytes_;
  int stat_, loadavg_, meminfo_, statm_, net_dev_, diskstats_;  // -1: not there
  std::vector<char> buffer_;
  std::vector<CpuTimes> cpu_times_;
  Rate process_cpu_ns_, net_rx_, net_tx_, disk_read_, disk_write_;
  std::vector<Disk> disks_;
};

}  // namespace gpufl::capture
