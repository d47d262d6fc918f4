// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "base/clock.hpp"

// For benchmarks whose figures are the CPU time of one core.
namespace gpufl::bench {

// Of all threads of the program.
inline double cpu_s() {
  return static_cast<double>(base::clock_ns(CLOCK_PROCESS_CPUTIME_ID)) * 1e-9;
}

// The calling thread and those that it starts stay where they are. Best effort.
inline void pin_to_one_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(std::max(0, sched_getcpu()), &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace gpufl::bench
