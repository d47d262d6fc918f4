// SPDX-License-Identifier: Apache-2.0
// live_program SCENARIO [FOLDER]: programs that are looked at from outside while they run. With a
// FOLDER they start a session of their own; without, whoever injects one has them. Each prints
// "ready" when there is something to look at, and goes on until its stdin is closed.

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <string>

#include "base/clock.hpp"
#include "tests/device/cuda_program.cuh"
#include "tests/device/kill_page.hpp"

// Of cuda_profiler_api.h, which not every toolkit that can compile this has.
extern "C" cudaError_t CUDARTAPI cudaProfilerStart();
extern "C" cudaError_t CUDARTAPI cudaProfilerStop();

namespace {

using namespace gpufl::device_test;

__global__ void spin_until(volatile int* told) {
  while (*told == 0) {
  }
}

void say_ready() {
  std::puts("ready");
  std::fflush(stdout);
}

bool is_wanted() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) == 0;
}

void wait_until_unwanted() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (poll(&input, 1, -1) < 0) {
  }
}

// A kernel that does not end, launched in the scope "stuck", and one behind it.
void hang() {
  int *told = nullptr, *on_device = nullptr;
  REQUIRE_CUDA(cudaHostAlloc(&told, sizeof *told, cudaHostAllocMapped));
  *told = 0;
  REQUIRE_CUDA(cudaHostGetDevicePointer(&on_device, told, 0));
  empty<<<1, 32>>>();
  synchronize();
  GFL_SCOPE("stuck") {
    spin_until<<<1, 1>>>(on_device);
    empty<<<1, 32>>>();
    say_ready();
    wait_until_unwanted();
    *static_cast<volatile int*>(told) = 1;
    synchronize();
  }
}

// A kernel every millisecond.
void paced() {
  empty<<<1, 32>>>();
  synchronize();
  say_ready();
  while (is_wanted()) {
    empty<<<1, 32>>>();
    synchronize();
    usleep(1000);
  }
}

// Launches as fast as it can, and notes in the page that FOLDER holds when groups of them have
// ended: what a killed process owes.
void victim(const std::string& folder) {
  const int file = open((folder + "/page").c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(KillPage)) != 0) std::exit(2);
  auto* page = static_cast<KillPage*>(
      mmap(nullptr, sizeof(KillPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  if (page == MAP_FAILED) std::exit(2);
  say_ready();
  int64_t group = 0;
  while (is_wanted() && group < KillPage::kGroups) {
    for (int i = 0; i < KillPage::kLaunches; ++i) empty<<<1, 32>>>();
    synchronize();
    page->end_ns[group] = gpufl::base::monotonic_ns();
    page->groups.store(++group, std::memory_order_release);
  }
}

// 10 launches, 20 between cudaProfilerStart and cudaProfilerStop, 30 afterwards, told apart by the
// size of their block.
void ranges() {
  const auto launch = [](int count, int threads) {
    for (int i = 0; i < count; ++i) empty<<<1, threads>>>();
    synchronize();
  };
  launch(10, 32);
  REQUIRE_CUDA(cudaProfilerStart());
  launch(20, 64);
  REQUIRE_CUDA(cudaProfilerStop());
  launch(30, 96);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 64;
  const std::string folder = argc == 3 ? argv[2] : ".";
  const std::map<std::string, std::function<void()>> scenarios = {
      {"hang", hang}, {"paced", paced}, {"victim", [&] { victim(folder); }}, {"ranges", ranges}};
  const auto scenario = scenarios.find(argv[1]);
  if (scenario == scenarios.end()) return 64;
  if (argc == 3) {
    gpufl::InitOptions options;
    options.enable_control = true;
    options.enable_stack_trace = scenario->first == "hang";
    start_session(folder.c_str(), options);
  }
  scenario->second();
  gpufl::shutdown();
  return 0;
}
