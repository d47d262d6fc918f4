// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <cstdint>

// The two clocks of a session. Everything in a log is on the monotonic one, as nanoseconds since
// the session's start; the wall clock appears only in anchors. Any thread; no system call (vDSO).
namespace gpufl::base {

inline int64_t clock_ns(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

inline int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }
inline int64_t wall_ns() { return clock_ns(CLOCK_REALTIME); }

// The monotonic and the wall clock read as one: `error_ns` bounds how far apart the two readings
// can have been.
struct ClockAnchor {
  int64_t monotonic_ns = 0;
  int64_t wall_ns = 0;
  int64_t error_ns = 0;
};

// The tightest of a few back-to-back readings.
ClockAnchor read_clock_anchor();

}  // namespace gpufl::base
