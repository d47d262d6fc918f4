// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

// Preloaded into a program under test: its wall clock is off by the seconds that the first eight
// bytes of the file GPUFL_CLOCK_STEP say, whenever they change. Other clocks go on.
namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int64_t step_s() {
  static const auto* const step = []() -> const std::atomic<int64_t>* {
    const char* name = getenv("GPUFL_CLOCK_STEP");
    const int file = name == nullptr ? -1 : open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return nullptr;
    void* mapped = mmap(nullptr, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    return mapped == MAP_FAILED ? nullptr : static_cast<const std::atomic<int64_t>*>(mapped);
  }();
  return step == nullptr ? 0 : step->load(std::memory_order_relaxed);
}

bool is_wall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static auto* const real = next<int(clockid_t, timespec*)>("clock_gettime");
  const int done = real(clock, now);
  if (done == 0 && is_wall(clock)) now->tv_sec += step_s();
  return done;
}

int gettimeofday(timeval* now, void* zone) noexcept {
  static auto* const real = next<int(timeval*, void*)>("gettimeofday");
  const int done = real(now, zone);
  if (done == 0) now->tv_sec += step_s();
  return done;
}

time_t time(time_t* into) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (into != nullptr) *into = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
