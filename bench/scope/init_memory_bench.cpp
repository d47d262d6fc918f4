// SPDX-License-Identifier: Apache-2.0
// What the library adds to a program's resident memory: linked, and after init with Monitor beyond
// what a bare nvmlInit takes (the driver's library, or any that stands in for it; without one,
// beyond nothing). Resident is all of it (RSS), pages shared with other processes too; the
// proportional figure (PSS) beside it counts those in parts. Every figure is the median over fresh
// processes.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gpufl/gpufl.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/report.hpp"

namespace gpufl::bench {
namespace {

constexpr int kRuns = 21;
constexpr int kScopes = 1000;

struct Memory {
  double rss_kb = 0, pss_kb = 0;
};

Memory memory_now() {
  Memory memory;
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("Rss:", 0) == 0) memory.rss_kb = std::strtod(line.c_str() + 4, nullptr);
    if (line.rfind("Pss:", 0) == 0) memory.pss_kb = std::strtod(line.c_str() + 4, nullptr);
  }
  return memory;
}

Memory after_bare_nvml() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library != nullptr) {
    if (auto* start = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"))) start();
  }
  return memory_now();
}

Memory after_init() {
  char pattern[] = "/tmp/gpufl_memory_bench_XXXXXX";
  const std::string folder = mkdtemp(pattern);
  InitOptions options;
  options.app_name = "init_memory_bench";
  options.log_path = folder;
  options.continuous_system_sampling = true;
  if (!init(options)) std::abort();
  for (int i = 0; i < kScopes; ++i) GFL_SCOPE("phase") {
    }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // a few samples
  const Memory resident = memory_now();
  shutdown();
  std::filesystem::remove_all(folder);
  return resident;
}

int measure_here(std::string_view what) {
  const Memory memory = what == "linked" ? memory_now()
                        : what == "nvml" ? after_bare_nvml()
                                         : after_init();
  std::printf("%f %f\n", memory.rss_kb, memory.pss_kb);
  return 0;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kRuns / 2, values.end());
  return values[kRuns / 2];
}

Memory median_of_runs(const std::string& program, const char* argument) {
  std::vector<double> rss, pss;
  for (int i = 0; i < kRuns; ++i) {
    // NOLINTNEXTLINE(bugprone-command-processor): this benchmark's own programs
    std::FILE* pipe = popen((program + " --measure " + argument).c_str(), "r");
    char line[64] = "";
    if (pipe == nullptr || std::fgets(line, sizeof(line), pipe) == nullptr || pclose(pipe) != 0) {
      std::abort();
    }
    char* rest = nullptr;
    rss.push_back(std::strtod(line, &rest));
    pss.push_back(std::strtod(rest, nullptr));
  }
  return {median(rss), median(pss)};
}

constexpr double kKbPerMb = 1024;

void report_added(Report& report, const std::string& what, const Memory& before,
                  const Memory& after, double most_mb) {
  report.value(what, (after.rss_kb - before.rss_kb) / kKbPerMb, "MiB", at_most(most_mb));
  report.value(what + " (proportional)", (after.pss_kb - before.pss_kb) / kKbPerMb, "MiB");
}

int compare(int argc, char** argv) {
  Report report("init_memory_bench", argc, argv);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string unlinked =
      std::filesystem::path(self).parent_path() / "parts" / "init_memory_baseline";
  const Memory bare = median_of_runs(unlinked, "linked");
  const Memory linked = median_of_runs(self, "linked");
  const Memory nvml = median_of_runs(self, "nvml");
  const Memory running = median_of_runs(self, "init");
  report.note("nvml_found", dlopen("libnvidia-ml.so.1", RTLD_NOW) != nullptr);
  report.value("program without the library", bare.rss_kb / kKbPerMb, "MiB");
  report_added(report, "linking adds", bare, linked, 3.0);
  report.value("bare nvmlInit adds", (nvml.rss_kb - linked.rss_kb) / kKbPerMb, "MiB");
  report_added(report, "init with Monitor adds beyond that", nvml, running, 8.0);
  return report.finish();
}

}  // namespace
}  // namespace gpufl::bench

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--measure") {
    return gpufl::bench::measure_here(argv[2]);
  }
  return gpufl::bench::compare(argc, argv);
}
