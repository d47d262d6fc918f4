// SPDX-License-Identifier: Apache-2.0
// `kill_victim LOG_FOLDER PROGRESS_FILE`: records scopes, counters and synthetic kernels until it
// is killed, and notes beside the log what it has done.
#include <chrono>
#include <gpufl/gpufl.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "bench/kill/progress_page.hpp"

namespace {

using gpufl::bench::ProgressPage;

void work(int number, ProgressPage::Thread& progress) {
  const std::string tag = "t" + std::to_string(number);
  for (int64_t i = 0; i < ProgressPage::kMaxScopes; ++i) {
    GFL_SCOPE("step", tag) {
      GFL_SCOPE("inner") { gpufl::tick("steps"); }
    }
    progress.end_ns[i] = gpufl::base::monotonic_ns();
    progress.ended.store(i + 1, std::memory_order_release);
    // So slow that a collector that gets no turn for seconds still finds all of them.
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  ProgressPage* page = ProgressPage::map(argv[2]);
  gpufl::InitOptions options;
  options.app_name = "kill_victim";
  options.log_path = argv[1];
  options.profiling_engine = gpufl::ProfilingEngine::Trace;
  options.system_sample_rate_ms = 50;
  options.continuous_system_sampling = true;
  options.log_window_s = 1;  // so that kills also fall into rotation and sealing
  if (page == nullptr || !gpufl::init(options)) return 1;
  gpufl::ScopedMonitor whole("whole run");
  std::vector<std::thread> threads;
  for (int t = 0; t < ProgressPage::kThreads; ++t) {
    threads.emplace_back(work, t, std::ref(page->threads[t]));
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}
