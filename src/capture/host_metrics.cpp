// SPDX-License-Identifier: Apache-2.0
#include "capture/host_metrics.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "backend/metric_table.hpp"
#include "base/clock.hpp"
#include "capture/text_scanner.hpp"

namespace gpufl::capture {
namespace {

namespace metric = backend::metric;

constexpr size_t kFirstBufferBytes = 16 << 10;
constexpr size_t kMaxBufferBytes = 4 << 20;
constexpr int64_t kSectorBytes = 512;  // of /proc/diskstats, whatever the disk's own

int open_file(const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC); }

}  // namespace

HostMetrics::HostMetrics(std::string root)
    : root_(std::move(root)),
      page_bytes_(sysconf(_SC_PAGESIZE)),
      stat_(open_file(root_ + "/proc/stat")),
      loadavg_(open_file(root_ + "/proc/loadavg")),
      meminfo_(open_file(root_ + "/proc/meminfo")),
      statm_(open_file(root_ + "/proc/self/statm")),
      net_dev_(open_file(root_ + "/proc/net/dev")),
      diskstats_(open_file(root_ + "/proc/diskstats")),
      buffer_(kFirstBufferBytes) {}

HostMetrics::~HostMetrics() {
  for (const int fd : {stat_, loadavg_, meminfo_, statm_, net_dev_, diskstats_}) {
    if (fd >= 0) close(fd);
  }
}

std::optional<int64_t> HostMetrics::Rate::update(int64_t now, int64_t now_ns) {
  std::optional<int64_t> per_second;
  if (value && now >= *value && now_ns > time_ns) {
    per_second = static_cast<int64_t>(static_cast<double>(now - *value) * 1e9 /
                                      static_cast<double>(now_ns - time_ns));
  }
  value = now;
  time_ns = now_ns;
  return per_second;
}

void HostMetrics::sample(int64_t now_ns, Values& out) {
  sample_cpu(out);
  sample_load(out);
  sample_memory(out);
  sample_process(now_ns, out);
  sample_network(now_ns, out);
  sample_disks(now_ns, out);
}

// The whole file. /proc hands a file out piece by piece, and only an empty read is its end.
std::string_view HostMetrics::read(int fd) {
  if (fd < 0) return {};
  size_t size = 0;
  while (true) {
    if (size == buffer_.size()) {
      if (size >= kMaxBufferBytes) return {};
      buffer_.resize(size * 2);
    }
    const ssize_t got =
        pread(fd, buffer_.data() + size, buffer_.size() - size, static_cast<off_t>(size));
    if (got < 0) return {};
    if (got == 0) return {buffer_.data(), size};
    size += static_cast<size_t>(got);
  }
}

void HostMetrics::sample_cpu(Values& out) {
  TextScanner lines(read(stat_));
  while (auto line = lines.line()) {
    TextScanner fields(*line);
    const std::string_view label = fields.word();
    if (!label.starts_with("cpu")) break;  // the cpu lines come first
    size_t slot = 0;
    if (label.size() > 3) {
      const auto core = TextScanner(label.substr(3)).number();
      if (!core) continue;
      slot = *core + 1;
    }
    // user nice system idle iowait irq softirq steal; guest time is part of user.
    CpuTimes now;
    for (int i = 0; i < 8; ++i) {
      const uint64_t ticks = fields.number().value_or(0);
      now.total += ticks;
      if (i != 3 && i != 4) now.busy += ticks;
    }
    if (slot >= cpu_times_.size()) cpu_times_.resize(slot + 1);
    CpuTimes& before = cpu_times_[slot];
    if (now.total == before.total) continue;  // less than a tick has passed
    if (before.total != 0 && now.total > before.total) {
      const uint64_t busy = now.busy > before.busy ? now.busy - before.busy : 0;
      const auto permille = static_cast<int64_t>(busy * 1000 / (now.total - before.total));
      const auto value = std::min<int64_t>(permille, 1000);
      if (slot == 0) {
        out.push_back({0, 0, metric::kCpuUtil, value});
      } else {
        out.push_back({0, static_cast<int64_t>(slot) - 1, metric::kCpuCoreUtil, value});
      }
    }
    before = now;
  }
}

void HostMetrics::sample_load(Values& out) {
  TextScanner fields(read(loadavg_));
  for (const std::string_view name : {metric::kLoad1, metric::kLoad5, metric::kLoad15}) {
    // "0.42": always two decimals.
    TextScanner parts(fields.word());
    const auto whole = parts.number();
    if (!whole || !parts.skip('.')) return;
    const auto hundredths = parts.number();
    if (!hundredths) return;
    out.push_back({0, 0, name, static_cast<int64_t>(*whole * 1000 + *hundredths * 10)});
  }
}

void HostMetrics::sample_memory(Values& out) {
  std::optional<int64_t> total, available, free, buffers, cached, reclaimable, shared, swap_total,
      swap_free;
  const std::pair<std::string_view, std::optional<int64_t>*> wanted[] = {
      {"MemTotal:", &total},  {"MemFree:", &free},         {"MemAvailable:", &available},
      {"Buffers:", &buffers}, {"Cached:", &cached},        {"SReclaimable:", &reclaimable},
      {"Shmem:", &shared},    {"SwapTotal:", &swap_total}, {"SwapFree:", &swap_free},
  };
  TextScanner lines(read(meminfo_));
  while (auto line = lines.line()) {
    TextScanner fields(*line);
    const std::string_view label = fields.word();
    for (const auto& [name, value] : wanted) {
      if (label != name) continue;
      if (const auto kib = fields.number()) *value = static_cast<int64_t>(*kib * 1024);
    }
  }
  if (total) out.push_back({0, 0, metric::kRamTotal, *total});
  if (total && free && buffers && cached) {
    // Shared memory is counted as cache, but nobody can reclaim it.
    const int64_t cache = *buffers + *cached + reclaimable.value_or(0) - shared.value_or(0);
    out.push_back({0, 0, metric::kRamUsed, std::max<int64_t>(0, *total - *free - cache)});
  }
  if (available) out.push_back({0, 0, metric::kRamAvailable, *available});
  if (swap_total) out.push_back({0, 0, metric::kSwapTotal, *swap_total});
  if (swap_total && swap_free) out.push_back({0, 0, metric::kSwapUsed, *swap_total - *swap_free});
}

void HostMetrics::sample_process(int64_t now_ns, Values& out) {
  // Nanoseconds, where /proc/self/stat has ticks of 10 ms.
  const int64_t cpu_ns = base::clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  if (const auto ns_per_s = process_cpu_ns_.update(cpu_ns, now_ns)) {
    out.push_back({0, 0, metric::kProcessCpu, *ns_per_s / 1'000'000});
  }
  TextScanner fields(read(statm_));
  fields.number();
  if (const auto resident = fields.number()) {
    out.push_back({0, 0, metric::kProcessRss, static_cast<int64_t>(*resident) * page_bytes_});
  }
}

// Bridges, bonds, tunnels and the pairs of containers carry bytes that a card has counted already,
// so only cards count; inside a container there may be none to see, and then everything does.
void HostMetrics::sample_network(int64_t now_ns, Values& out) {
  const std::string_view text = read(net_dev_);
  if (text.empty()) return;
  struct Traffic {
    int64_t received = 0, sent = 0;
  } of_all, of_cards;
  bool has_cards = false;
  TextScanner lines(text);
  while (auto line = lines.line()) {
    // "  eth0: rx_bytes, 7 more, tx_bytes, 7 more"; the two lines of headings have no colon.
    const size_t colon = line->find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = TextScanner(line->substr(0, colon)).word();
    if (name == "lo") continue;
    TextScanner fields(line->substr(colon + 1));
    const auto received = static_cast<int64_t>(fields.number().value_or(0));
    for (int i = 0; i < 7; ++i) fields.number();
    const auto sent = static_cast<int64_t>(fields.number().value_or(0));
    of_all.received += received;
    of_all.sent += sent;
    if (!is_network_card(name)) continue;
    has_cards = true;
    of_cards.received += received;
    of_cards.sent += sent;
  }
  const Traffic& counted = has_cards ? of_cards : of_all;
  if (const auto rate = net_rx_.update(counted.received, now_ns)) {
    out.push_back({0, 0, metric::kNetworkRx, *rate});
  }
  if (const auto rate = net_tx_.update(counted.sent, now_ns)) {
    out.push_back({0, 0, metric::kNetworkTx, *rate});
  }
}

// Asked each time: interfaces of containers come and go, and their names with them.
bool HostMetrics::is_network_card(std::string_view name) const {
  char device[4096];  // sampling allocates nothing
  const int length = std::snprintf(device, sizeof device, "%s/sys/class/net/%.*s/device",
                                   root_.c_str(), static_cast<int>(name.size()), name.data());
  return length > 0 && static_cast<size_t>(length) < sizeof device && access(device, F_OK) == 0;
}

void HostMetrics::sample_disks(int64_t now_ns, Values& out) {
  bool found = false;
  int64_t read_sectors = 0, written_sectors = 0;
  TextScanner lines(read(diskstats_));
  while (auto line = lines.line()) {
    // major minor name reads merged sectors ms writes merged sectors ...
    TextScanner fields(*line);
    fields.number();
    fields.number();
    if (!is_whole_disk(fields.word())) continue;
    found = true;
    for (int i = 0; i < 2; ++i) fields.number();
    read_sectors += static_cast<int64_t>(fields.number().value_or(0));
    for (int i = 0; i < 3; ++i) fields.number();
    written_sectors += static_cast<int64_t>(fields.number().value_or(0));
  }
  if (!found) return;
  if (const auto rate = disk_read_.update(read_sectors * kSectorBytes, now_ns)) {
    out.push_back({0, 0, metric::kDiskRead, *rate});
  }
  if (const auto rate = disk_write_.update(written_sectors * kSectorBytes, now_ns)) {
    out.push_back({0, 0, metric::kDiskWrite, *rate});
  }
}

// Asked of /sys once per name. Loop devices, RAM disks and layers (dm, md) would count the bytes
// of the disks below them a second time.
bool HostMetrics::is_whole_disk(std::string_view name) {
  for (const Disk& disk : disks_) {
    if (disk.name == name) return disk.whole;
  }
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path block = fs::path(root_ + "/sys/block") / name;
  const bool layered =
      fs::is_directory(block / "slaves", error) && !fs::is_empty(block / "slaves", error);
  const bool virtual_disk =
      name.starts_with("loop") || name.starts_with("ram") || name.starts_with("zram");
  const bool whole = fs::exists(block, error) && !layered && !virtual_disk;
  disks_.push_back({std::string(name), whole});
  return whole;
}

}  // namespace gpufl::capture
