// SPDX-License-Identifier: Apache-2.0
// What the library adds to a program's resident memory: linked, and after init with Monitor beyond
// what a bare nvmlInit takes (the driver's library, or any that stands in for it; without one,
// beyond nothing). Every figure is the median over fresh processes.
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

// Proportional, so that pages shared with other processes do not depend on who else runs.
double resident_kb() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("Pss:", 0) == 0) return std::strtod(line.c_str() + 4, nullptr);
  }
  return 0;
}

double after_bare_nvml() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library != nullptr) {
    if (auto* start = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"))) start();
  }
  return resident_kb();
}

double after_init() {
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
  const double resident = resident_kb();
  shutdown();
  std::filesystem::remove_all(folder);
  return resident;
}

int measure_here(std::string_view what) {
  const double kb = what == "linked" ? resident_kb()
                    : what == "nvml" ? after_bare_nvml()
                                     : after_init();
  std::printf("%f\n", kb);
  return 0;
}

double median_of_runs(const std::string& program, const char* argument) {
  std::vector<double> values;
  for (int i = 0; i < kRuns; ++i) {
    std::FILE* pipe = popen((program + " --measure " + argument).c_str(), "r");
    double kb = 0;
    if (pipe == nullptr || std::fscanf(pipe, "%lf", &kb) != 1 || pclose(pipe) != 0) std::abort();
    values.push_back(kb);
  }
  std::nth_element(values.begin(), values.begin() + kRuns / 2, values.end());
  return values[kRuns / 2];
}

int compare(int argc, char** argv) {
  Report report("init_memory_bench", argc, argv);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string unlinked =
      std::filesystem::path(self).parent_path() / "parts" / "init_memory_baseline";
  const double bare = median_of_runs(unlinked, "linked");
  const double linked = median_of_runs(self, "linked");
  const double nvml = median_of_runs(self, "nvml");
  const double running = median_of_runs(self, "init");
  constexpr double kKbPerMb = 1024;
  report.note("nvml_found", dlopen("libnvidia-ml.so.1", RTLD_NOW) != nullptr);
  report.value("program without the library", bare / kKbPerMb, "MiB");
  report.value("linking adds", (linked - bare) / kKbPerMb, "MiB", at_most(1.0));
  report.value("bare nvmlInit adds", (nvml - linked) / kKbPerMb, "MiB");
  report.value("init with Monitor adds beyond that", (running - nvml) / kKbPerMb, "MiB",
               at_most(8.0));
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
