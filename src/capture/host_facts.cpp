// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "capture/host_metrics.hpp"
#include "capture/text_scanner.hpp"

namespace gpufl::capture {
namespace {

// cgroup v1 writes "no limit" as the largest multiple of a page.
constexpr uint64_t kUnlimitedBytes = uint64_t{1} << 62;

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value of the first line "label<blanks>: value".
std::string labelled(const std::string& path, std::string_view label) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(label)) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

// This process's folder below the mount of a hierarchy: "" is the unified one (v2), else the name
// of a v1 controller. Inside a container the path is often only valid outside: then the mount
// itself is the container's group.
std::string cgroup_folder(const std::string& root, std::string_view controller) {
  std::string mount =
      root + "/sys/fs/cgroup" + (controller.empty() ? "" : "/" + std::string(controller));
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    // "0::/path", or "5:cpu,cpuacct:/path".
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names.find("," + std::string(controller) + ",") == std::string::npos) continue;
    const std::string folder = mount + line.substr(second + 1);
    if (std::ifstream(folder + "/cgroup.procs").good()) return folder;
  }
  return mount;
}

std::optional<int64_t> memory_limit(const std::string& root) {
  for (const std::string& path : {cgroup_folder(root, "") + "/memory.max",
                                  cgroup_folder(root, "memory") + "/memory.limit_in_bytes"}) {
    const auto bytes = TextScanner(first_line(path)).number();
    if (bytes && *bytes < kUnlimitedBytes) return static_cast<int64_t>(*bytes);
  }
  return std::nullopt;
}

std::optional<int64_t> cpu_limit(const std::string& root) {
  std::string text = first_line(cgroup_folder(root, "") + "/cpu.max");
  if (text.empty()) {
    const std::string folder = cgroup_folder(root, "cpu");
    text =
        first_line(folder + "/cpu.cfs_quota_us") + " " + first_line(folder + "/cpu.cfs_period_us");
  }
  TextScanner fields(text);
  const auto quota = fields.number();  // "max" (v2) and "-1" (v1) are no limit
  const auto period = fields.number();
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<int64_t>(*quota * 1000 / *period);
}

}  // namespace

HostFacts HostMetrics::facts() const {
  HostFacts facts;
  std::ifstream stat(root_ + "/proc/stat");
  for (std::string line; std::getline(stat, line) && line.starts_with("cpu");) {
    if (!line.starts_with("cpu ")) ++facts.core_count;
  }
  facts.cpu_model = labelled(root_ + "/proc/cpuinfo", "model name");
  const std::string total = labelled(root_ + "/proc/meminfo", "MemTotal");
  if (const auto kib = TextScanner(total).number()) {
    facts.ram_total_bytes = static_cast<int64_t>(*kib * 1024);
  }
  facts.cgroup_memory_limit_bytes = memory_limit(root_);
  facts.cgroup_cpu_limit_permille = cpu_limit(root_);
  return facts;
}

base::Json HostFacts::to_json() const {
  base::Json json = base::Json::object();
  json.set("core_count", core_count);
  if (!cpu_model.empty()) json.set("cpu_model", cpu_model);
  if (ram_total_bytes) json.set("ram_total_bytes", *ram_total_bytes);
  if (cgroup_memory_limit_bytes) {
    json.set("cgroup_memory_limit_bytes", *cgroup_memory_limit_bytes);
  }
  if (cgroup_cpu_limit_permille) {
    json.set("cgroup_cpu_limit_permille", *cgroup_cpu_limit_permille);
  }
  return json;
}

}  // namespace gpufl::capture
