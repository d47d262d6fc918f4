// SPDX-License-Identifier: Apache-2.0
#pragma once

// In-kernel profiler for warp-specialised CUDA kernels: one leader thread of each group of warps
// marks begins and ends, the host decodes them with warpscope_host.hpp or Python. Header-only,
// C++17, for nvcc and NVRTC; needs the folder it lies in as an include path and nothing else. sm_70
// and newer. docs/guide/warpscope.md shows how to use it, docs/reference/warpscope-format.md what
// it writes.
#include <warpscope/wire.cuh>

// A host compiler gets what it needs to pass a capture to a kernel, and no profilers.
#if defined(__CUDACC__) || defined(WARPSCOPE_EMULATED)
#include <warpscope/fast_profiler.cuh>
#include <warpscope/profiler.cuh>

namespace ws {

// Begins an event where it is made and ends it where it goes out of scope.
template <bool kEnable, typename P = Profiler<kEnable>>
class ScopedRegion {
 public:
  WS_DEVICE ScopedRegion(P& profiler, Ev event) : profiler_(profiler), event_(event) {
    profiler_.start(event_);
  }
  WS_DEVICE ~ScopedRegion() { profiler_.end(event_); }
  ScopedRegion(const ScopedRegion&) = delete;
  ScopedRegion& operator=(const ScopedRegion&) = delete;

 private:
  P& profiler_;
  const Ev event_;
};
template <bool kEnable, Clock kClock>
ScopedRegion(Profiler<kEnable, kClock>&, Ev) -> ScopedRegion<kEnable, Profiler<kEnable, kClock>>;
template <bool kEnable, Clock kClock, bool kExtended, uint32_t kRecords>
ScopedRegion(FastProfiler<kEnable, kClock, kExtended, kRecords>&, Ev)
    -> ScopedRegion<kEnable, FastProfiler<kEnable, kClock, kExtended, kRecords>>;

WS_BOTH constexpr Ev to_event(Ev event) { return event; }
template <typename Integer>
WS_BOTH constexpr Ev to_event(Integer id) {
  return {static_cast<uint32_t>(id)};
}

}  // namespace ws

// Event `event`, a number or ws::Ev, from here to the end of the scope.
#define WS_REGION(profiler, event) \
  const ::ws::ScopedRegion WS_REGION_NAME(ws_region_, __LINE__)(profiler, ::ws::to_event(event))
#define WS_REGION_NAME(prefix, line) WS_REGION_JOIN(prefix, line)
#define WS_REGION_JOIN(prefix, line) prefix##line
#endif
