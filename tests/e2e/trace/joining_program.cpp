// SPDX-License-Identifier: Apache-2.0
// `joining_program FOLDER STEP...`: a program that links the library and may have another copy of
// it injected. Built twice: with libgpufl, and with the library inside. It does one step after
// another:
//
//   inject       loads libgpufl_inject as CUDA's driver does, and calls it
//   cuda         initialises CUDA, over stand-ins: its driver injects what it is told to
//   launch:N     launches N kernels
//   bench:FILE   runs a benchmark scope "gemm" of 3 iterations again and again until FILE exists;
//                prints how many iterations there were, and how many bodies ran
//   init         calls init() with FOLDER/own as log_path; prints what it returned
//   work:NAME    a scope of that name, here and in a thread; 5 of the counter NAME
//   early:NAME   2 of the counter NAME, through a Counter that is kept from then on
//   late         3 more through that Counter
//   system       samples system metrics until one has come to the log
//   report       prints generateReport()
//   pause        calls pause(); prints what it returned
//   deep:NAME    opens a deep window of at most a minute; prints what that returned
//   deep_for:MS  the same, of that length, without a name     deep_close   closes it
//   deep_await   goes on when none is open
//   await:FILE   goes on when FILE exists, and launches meanwhile
//   shutdown     calls shutdown()
//   race         init() and inject at the same time, on two threads
//   fork         goes on in a child of fork(); the parent ends with its code
//   leave_main   ends the main thread, while another goes on for a moment
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gpufl/gpufl.hpp>
#include <optional>
#include <string>
#include <thread>

#ifdef GPUFL_STANDIN_CUDA
#include "tests/e2e/trace/standin_gpu.hpp"
#endif

namespace {

std::optional<gpufl::Counter> kept;

void inject() {
  void* library = dlopen(GPUFL_INJECT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(99);
  }
  reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
}

bool init(const std::string& folder) {
  gpufl::InitOptions options;
  options.app_name = "joining";
  options.log_path = folder + "/own";
  options.profiling_engine = gpufl::ProfilingEngine::Trace;
  return gpufl::init(options);
}

void work(const std::string& name) {
  const auto scope = [&] { gpufl::ScopedMonitor monitor(name, "tag"); };
  scope();
  std::thread(scope).join();
  gpufl::tick(name, 5);
}

void go_on_in_child() {
  const pid_t child = fork();
  if (child == 0) return;
  int status = 0;
  waitpid(child, &status, 0);
  std::exit(WEXITSTATUS(status));
}

// Until the log of a session in `folder` has one.
void wait_for_sample(const std::string& folder) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < deadline) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().filename() != "system.log") continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        if (line.find("\"host_metric\"") != std::string::npos) return;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::exit(96);
}

// Launches, where there is something to launch on.
template <typename Goes>
void launch_while(Goes goes_on) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (goes_on()) {
    if (std::chrono::steady_clock::now() > deadline) std::exit(95);
#ifdef GPUFL_STANDIN_CUDA
    gpufl::standin::launch(10);
#endif
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

#ifdef GPUFL_STANDIN_CUDA
void bench_until(const std::string& file) {
  constexpr uint32_t kRepeat = 3;
  gpufl::standin::give_hardware_counters();
  gpufl::standin::make_context();
  uint32_t asked = 0, ran = 0;
  launch_while([&] {
    asked += kRepeat;
    GFL_BENCH("gemm", gpufl::ScopeMeta{}.setRepeat(kRepeat)) {
      ++ran;
      gpufl::standin::launch(2);
    };
    return !std::filesystem::exists(file);
  });
  std::printf("bench %u %u\n", asked, ran);
}
#endif

void step(const std::string& name, const std::string& value, const std::string& folder) {
  if (name == "inject") {
    inject();
#ifdef GPUFL_STANDIN_CUDA
  } else if (name == "cuda") {
    gpufl::standin::init_cuda();
  } else if (name == "bench") {
    bench_until(value);
  } else if (name == "launch") {
    gpufl::standin::launch(static_cast<int>(std::strtol(value.c_str(), nullptr, 10)));
#endif
  } else if (name == "init") {
    std::printf("init %s\n", init(folder) ? "true" : "false");
  } else if (name == "work") {
    work(value);
  } else if (name == "early") {
    kept = gpufl::counter(value);
    kept->add(2);
  } else if (name == "late") {
    kept->add(3);
  } else if (name == "system") {
    gpufl::systemStart("sampled");
    wait_for_sample(folder);
    gpufl::systemStop("sampled");
  } else if (name == "report") {
    gpufl::generateReport();
  } else if (name == "pause") {
    std::printf("pause %s\n", gpufl::pause() ? "true" : "false");
  } else if (name == "deep") {
    gpufl::DeepWindowSpec spec;
    spec.max_duration_ms = 60'000;
    spec.name = value;
    std::printf("deep %s\n", gpufl::deepWindow(spec) ? "true" : "false");
    std::fflush(stdout);
  } else if (name == "deep_for") {
    const int duration_ms = static_cast<int>(std::strtol(value.c_str(), nullptr, 10));
    std::printf("deep %s\n", gpufl::deepWindow(duration_ms) ? "true" : "false");
    std::fflush(stdout);
  } else if (name == "deep_close") {
    gpufl::deepWindowClose();
  } else if (name == "deep_await") {
    launch_while([] { return gpufl::deepWindowActive(); });
  } else if (name == "await") {
    launch_while([&] { return !std::filesystem::exists(value); });
  } else if (name == "shutdown") {
    gpufl::shutdown();
  } else if (name == "race") {
    std::thread other(inject);
    init(folder);
    other.join();
  } else if (name == "fork") {
    go_on_in_child();
  } else if (name == "leave_main") {
    std::thread([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }).detach();
    pthread_exit(nullptr);
  } else {
    std::exit(97);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  for (int i = 2; i < argc; ++i) {
    const std::string text = argv[i];
    const size_t colon = text.find(':');
    step(text.substr(0, colon), colon != std::string::npos ? text.substr(colon + 1) : "", argv[1]);
  }
  return 0;
}
