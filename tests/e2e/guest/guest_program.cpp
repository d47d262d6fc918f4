// SPDX-License-Identifier: Apache-2.0
// A host program that does to the library what real programs do: `guest_program MODE`. Exits with
// 0 when what it can see itself is right; guest_test.cpp looks at the log it leaves.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gpufl/gpufl.hpp>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

// Ends the program with the line that was not true.
#define REQUIRE(condition)                                                 \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
      _exit(1);                                                            \
    }                                                                      \
  } while (false)

// Sanitizers keep freed memory and shadows of threads, so resident memory says nothing there; the
// address sanitizer finds leaks by itself.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
constexpr bool kIsSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kIsSanitized = false;
#endif

gpufl::InitOptions options() {
  gpufl::InitOptions opts;
  opts.app_name = "guest";
  opts.backend = gpufl::BackendKind::None;
  return opts;  // log_path comes from GPUFL_LOG_PATH
}

size_t count_entries(const char* folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

size_t resident_kb() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

int twice() {
  REQUIRE(gpufl::init(options()));
  REQUIRE(gpufl::init(options()));  // joins
  GFL_SCOPE("work") {}
  gpufl::shutdown();
  gpufl::shutdown();
  return 0;
}

int scopes_around_a_session() {
  gpufl::tick("ticks", 5);
  {
    gpufl::ScopedMonitor before("before init");
  }
  auto across = std::make_unique<gpufl::ScopedMonitor>("begun before init");
  REQUIRE(gpufl::init(options()));
  across.reset();
  GFL_SCOPE("inside") { gpufl::tick("ticks", 2); }
  auto open = std::make_unique<gpufl::ScopedMonitor>("open at shutdown");
  gpufl::shutdown();
  open.reset();
  {
    gpufl::ScopedMonitor after("after shutdown");
  }
  gpufl::tick("ticks", 1);
  return gpufl::counter("ticks").value() == 8 ? 0 : 1;
}

int across_threads() {
  REQUIRE(gpufl::init(options()));
  std::unique_ptr<gpufl::ScopedMonitor> handed;
  std::thread([&] {
    handed = std::make_unique<gpufl::ScopedMonitor>("thread ended inside");
  }).join();
  auto mine = std::make_unique<gpufl::ScopedMonitor>("ended elsewhere");
  std::thread([&] { mine.reset(); }).join();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) GFL_SCOPE("worker") {
        }
    });
  }
  for (auto& thread : threads) thread.join();
  gpufl::shutdown();
  return 0;
}

int exit_without_shutdown() {
  REQUIRE(gpufl::init(options()));
  GFL_SCOPE("work") {}
  std::exit(0);
}

int exit_from_a_thread() {
  REQUIRE(gpufl::init(options()));
  std::thread([] {
    GFL_SCOPE("work") {}
    std::exit(0);
  }).join();
  return 1;
}

// A static whose destructor marks a scope: made before init, so destroyed after the session's end;
// and one made after, destroyed before it.
struct ScopeAtDestruction {
  const char* name;
  ~ScopeAtDestruction() {
    GFL_SCOPE(name) {}
  }
};

int scopes_in_static_destructors() {
  static ScopeAtDestruction early{"destroyed after the session"};
  REQUIRE(gpufl::init(options()));
  static ScopeAtDestruction late{"destroyed before the session's end"};
  return 0;
}

int exceptions() {
  REQUIRE(gpufl::init(options()));
  try {
    GFL_SCOPE("outer") {
      GFL_SCOPE("inner") { throw 42; }
    }
  } catch (int) {
  }
  try {
    gpufl::monitor("monitored", []() -> int { throw 43; });
  } catch (int) {
  }
  gpufl::shutdown();
  return 0;
}

int wait_for(pid_t child) {
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// The child goes on without a session: nothing it does reaches the parent's log.
int fork_plain() {
  REQUIRE(gpufl::init(options()));
  auto open = std::make_unique<gpufl::ScopedMonitor>("open at fork");
  const pid_t child = fork();
  if (child == 0) {
    open.reset();
    GFL_SCOPE("in the child") {}
    gpufl::systemStart("child");
    gpufl::systemStop("child");
    REQUIRE(count_entries("/proc/self/task") == 1);
    gpufl::shutdown();
    std::exit(0);
  }
  REQUIRE(wait_for(child) == 0);
  open.reset();
  GFL_SCOPE("in the parent") {}
  gpufl::shutdown();
  return 0;
}

int fork_and_init() {
  REQUIRE(gpufl::init(options()));
  GFL_SCOPE("parent before") {}
  const pid_t child = fork();
  if (child == 0) {
    REQUIRE(gpufl::init(options()));
    GFL_SCOPE("child work") {}
    std::thread([] {
      GFL_SCOPE("child thread") {}
    }).join();
    std::exit(0);  // ends the child's session, not the parent's
  }
  REQUIRE(wait_for(child) == 0);
  GFL_SCOPE("parent after") {}
  gpufl::shutdown();
  return 0;
}

int fork_and_exec() {
  REQUIRE(gpufl::init(options()));
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  REQUIRE(wait_for(child) == 0);
  GFL_SCOPE("work") {}
  gpufl::shutdown();
  return 0;
}

// Forks while other threads are in the middle of scopes, new names and counters.
int fork_under_load() {
  REQUIRE(gpufl::init(options()));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; !stop; ++i) {
        const std::string name = "name " + std::to_string(i % 5000);
        GFL_SCOPE(name) { gpufl::tick(name); }
      }
    });
  }
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      GFL_SCOPE("a name that is new in the child") {}
      gpufl::tick("a counter that is new in the child");
      std::exit(0);
    }
    const int ended = wait_for(child);
    if (ended != 0) std::fprintf(stderr, "child %d ended with %d\n", i, ended);
    REQUIRE(ended == 0);
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  gpufl::shutdown();
  return 0;
}

// Counters take a lock before there is any session.
int fork_before_init() {
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    for (int i = 0; !stop && i < 4000; ++i) {
      gpufl::counter("name " + std::to_string(i) + std::string(200, 'x'));
    }
  });
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      gpufl::tick("a counter that is new in the child");
      _exit(0);
    }
    REQUIRE(wait_for(child) == 0);
  }
  stop = true;
  thread.join();
  return 0;
}

// A handler that was there before ours runs after it: too late for a session.
int init_at_exit() {
  std::atexit([] { REQUIRE(!gpufl::init(options())); });
  REQUIRE(gpufl::init(options()));
  return 0;
}

int race_to_init() {
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> ready{0};
    std::atomic<int> started{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        ++ready;
        while (ready < 8) std::this_thread::yield();
        if (gpufl::init(options())) ++started;
        GFL_SCOPE("racing") {}
        if (t % 2 == 0) gpufl::shutdown();
      });
    }
    for (auto& thread : threads) thread.join();
    REQUIRE(started == 8);
    gpufl::shutdown();
  }
  return 0;
}

int cycles() {
  constexpr int kWarmUp = 100, kCycles = 1000;
  size_t resident = 0, files = 0, threads = 0;
  for (int i = 0; i < kWarmUp + kCycles; ++i) {
    if (i == kWarmUp) {
      resident = resident_kb();
      files = count_entries("/proc/self/fd");
      threads = count_entries("/proc/self/task");
    }
    gpufl::InitOptions opts = options();
    opts.continuous_system_sampling = i % 2 == 0;
    REQUIRE(gpufl::init(opts));
    GFL_SCOPE("cycle") {}
    gpufl::tick("cycles");
    gpufl::shutdown();
  }
  std::printf("%d cycles: resident %zu -> %zu KiB\n", kCycles, resident, resident_kb());
  REQUIRE(kIsSanitized || resident_kb() <= resident + 1024);
  REQUIRE(count_entries("/proc/self/fd") == files);
  REQUIRE(count_entries("/proc/self/task") == threads);
  return 0;
}

// Rings of threads that have ended, and of a session that has, are nobody's memory.
int busy_threads() {
  const auto busy = [] {
    for (int i = 0; i < 16'000; ++i) GFL_SCOPE("busy") {
      }
  };
  REQUIRE(gpufl::init(options()));
  const size_t before = resident_kb();
  for (int round = 0; round < 4; ++round) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 100; ++t) threads.emplace_back(busy);
    for (auto& thread : threads) thread.join();
  }
  const size_t peak = resident_kb();
  gpufl::shutdown();
  std::printf("resident %zu, %zu, %zu KiB\n", before, peak, resident_kb());
  REQUIRE(kIsSanitized || peak < before + 96 * 1024);
  REQUIRE(kIsSanitized || resident_kb() < before + 24 * 1024);
  return 0;
}

int disabled() {
  const size_t files = count_entries("/proc/self/fd");
  gpufl::InitOptions opts = options();
  opts.continuous_system_sampling = true;
  opts.backend = gpufl::BackendKind::Auto;
  opts.profiling_engine = gpufl::ProfilingEngine::Deep;
  const char* variable = std::getenv("GPUFL_DISABLED");
  if (variable == nullptr || std::strcmp(variable, "1") != 0) opts.enabled = false;
  REQUIRE(!gpufl::init(opts));
  gpufl::generateReport();  // says nothing either
  GFL_SCOPE("nothing") {}
  gpufl::systemStart();
  gpufl::systemStop();
  REQUIRE(count_entries("/proc/self/task") == 1);
  REQUIRE(count_entries("/proc/self/fd") == files);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    REQUIRE(line.find("libnvidia-ml") == std::string::npos);
    REQUIRE(line.find("libcupti") == std::string::npos);
  }
  gpufl::shutdown();
  return 0;
}

std::atomic<int> g_handled_elsewhere{0};
pid_t g_main_thread;

// The host's handlers stay what they were, and never run on a thread of ours.
int signals() {
  g_main_thread = gettid();
  struct sigaction action = {};
  action.sa_handler = [](int) {
    if (gettid() != g_main_thread) ++g_handled_elsewhere;
  };
  sigaction(SIGUSR1, &action, nullptr);
  std::vector<struct sigaction> before(NSIG);
  for (int s = 1; s < NSIG; ++s) sigaction(s, nullptr, &before[s]);
  gpufl::InitOptions opts = options();
  opts.continuous_system_sampling = true;
  REQUIRE(gpufl::init(opts));
  sigset_t usr1, mask;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr1, nullptr);  // so that only another thread could take it
  for (int i = 0; i < 50; ++i) {
    kill(getpid(), SIGUSR1);
    std::this_thread::sleep_for(1ms);
  }
  gpufl::shutdown();
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  REQUIRE(sigismember(&mask, SIGUSR1) == 1);
  REQUIRE(sigismember(&mask, SIGTERM) == 0);
  REQUIRE(g_handled_elsewhere == 0);
  for (int s = 1; s < NSIG; ++s) {
    struct sigaction after = {};
    sigaction(s, nullptr, &after);
    REQUIRE(after.sa_handler == before[s].sa_handler);
  }
  return 0;
}

int unwritable() {
  gpufl::InitOptions opts = options();
  opts.log_path = "/proc/nowhere/logs";
  REQUIRE(!gpufl::init(opts));
  GFL_SCOPE("nothing") {}
  gpufl::generateReport("/proc/nowhere/report.txt");
  gpufl::shutdown();
  REQUIRE(gpufl::init(options()));  // a later one with a good folder works
  gpufl::shutdown();
  return 0;
}

int statuses() {
  const auto says = [](const char* reason) {
    const gpufl::SessionStatus now = gpufl::status();
    return !now.recording && now.reason == reason;
  };
  REQUIRE(says("init() has not been called in this process"));
  gpufl::InitOptions opts = options();
  opts.log_path = "/proc/nowhere/logs";
  REQUIRE(!gpufl::init(opts));
  REQUIRE(!gpufl::status().recording);
  REQUIRE(gpufl::status().reason.find("/proc/nowhere") != std::string::npos);
  REQUIRE(gpufl::init(options()));
  REQUIRE(gpufl::status().recording && gpufl::status().reason.empty());
  gpufl::shutdown();
  REQUIRE(says("the session has ended"));
  opts.enabled = false;
  REQUIRE(!gpufl::init(opts));
  REQUIRE(says("the option enabled is false"));
  REQUIRE(setenv("GPUFL_DISABLED", "1", 1) == 0);
  REQUIRE(!gpufl::init(options()));
  REQUIRE(says("GPUFL_DISABLED is set"));
  return 0;
}

int reports() {
  REQUIRE(gpufl::init(options()));
  for (int i = 0; i < 3; ++i) GFL_SCOPE("reported phase", "live") {
    }
  gpufl::tick("reported counter", 12);
  gpufl::generateReport();  // while it runs
  gpufl::shutdown();
  const char* file = std::getenv("GUEST_REPORT");
  gpufl::generateReport(file != nullptr ? file : "");
  return 0;
}

// Until the only session's live file has so many lines of host metrics.
void wait_for_host_lines(size_t count) {
  alarm(60);  // as long as it takes, but not for ever
  for (size_t found = 0; found < count; std::this_thread::sleep_for(1ms)) {
    found = 0;
    for (const auto& session : std::filesystem::directory_iterator(std::getenv("GPUFL_LOG_PATH"))) {
      std::ifstream file(session.path() / "system.log");
      for (std::string line; std::getline(file, line);) {
        if (line.find("\"host_metric\"") != std::string::npos) ++found;
      }
    }
  }
  alarm(0);
}

int sampling() {
  gpufl::InitOptions opts = options();
  opts.system_sample_rate_ms = 20;
  REQUIRE(gpufl::init(opts));
  std::this_thread::sleep_for(200ms);  // idle: no scope is open
  GFL_SCOPE("sampled") { wait_for_host_lines(1); }
  std::this_thread::sleep_for(200ms);
  gpufl::shutdown();
  return 0;
}

int system_start_stop() {
  REQUIRE(gpufl::init(options()));  // the rate left at 0
  gpufl::systemStop("never started");
  std::this_thread::sleep_for(250ms);
  gpufl::systemStart("phase");
  gpufl::systemStart("phase");
  gpufl::systemStop("phase");
  wait_for_host_lines(2);
  gpufl::systemStop("phase");
  gpufl::shutdown();
  return 0;
}

const std::map<std::string, int (*)()> kModes = {
    {"twice", twice},
    {"scopes_around_a_session", scopes_around_a_session},
    {"across_threads", across_threads},
    {"exit_without_shutdown", exit_without_shutdown},
    {"exit_from_a_thread", exit_from_a_thread},
    {"scopes_in_static_destructors", scopes_in_static_destructors},
    {"exceptions", exceptions},
    {"fork_plain", fork_plain},
    {"fork_and_init", fork_and_init},
    {"fork_and_exec", fork_and_exec},
    {"fork_under_load", fork_under_load},
    {"fork_before_init", fork_before_init},
    {"init_at_exit", init_at_exit},
    {"race_to_init", race_to_init},
    {"cycles", cycles},
    {"busy_threads", busy_threads},
    {"disabled", disabled},
    {"signals", signals},
    {"unwritable", unwritable},
    {"statuses", statuses},
    {"reports", reports},
    {"sampling", sampling},
    {"system_start_stop", system_start_stop},
};

}  // namespace

int main(int argc, char** argv) {
  const auto mode = argc == 2 ? kModes.find(argv[1]) : kModes.end();
  return mode != kModes.end() ? mode->second() : 64;
}
