// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gpufl/export.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

// The inside of a kernel, as warpscope.cuh recorded it, on the session's timeline: under its
// kernel, per multiprocessor, block and group. Give the buffer here after the launch; it is decoded
// and written by the session's own thread. Any thread; nothing throws. Without a session every call
// says so and does nothing. docs/guide/warpscope-timeline.md.
namespace gpufl {

enum class WarpscopeStatus {
  Recorded,     // taken: it is in the log once the session is flushed or ends
  NoSession,    // nothing is being recorded
  Empty,        // no words
  TooLarge,     // more than kMaxWarpscopeWords
  Full,         // others wait to be written that have all the room: later it is there again
  CopyFailed,   // the words could not be copied from the GPU: no context is current, or a bad
                // pointer
  OutOfMemory,  // none for a copy of the words
};

// "recorded", "no_session", ...
GPUFL_API const char* to_string(WarpscopeStatus status) noexcept;

// 128 MiB: eight million spans.
inline constexpr size_t kMaxWarpscopeWords = size_t{1} << 24;

// All of it may be left out. Names given here win over those in the capture.
struct WarpscopeInfo {
  std::map<uint32_t, std::string> event_names;
  std::map<uint32_t, std::string> group_names;
  std::string kernel_name;
  int64_t device = -1;       // number of the GPU in the session; -1: the one current on this thread
  uint32_t correlation = 0;  // CUPTI's id of the launch, where the program knows it
};

#ifndef GPUFL_COMPILED_OUT

// `words`: the whole capture, copied back to the host (docs/reference/warpscope-format.md). The
// words are copied; the call takes some 0.2 ms, because it reads the GPU's timer where its context
// is current on this thread.
GPUFL_API WarpscopeStatus recordWarpscope(const uint64_t* words, size_t count,
                                          const WarpscopeInfo& info = {}) noexcept;
// The same with words that lie in memory of the current context's GPU, after the kernel has ended.
GPUFL_API WarpscopeStatus recordWarpscopeDevice(const void* device_words, size_t count,
                                                const WarpscopeInfo& info = {}) noexcept;

// Made before a launch and told of the buffer after it: so that the kernel is known by thread and
// time of the call, and the GPU's timer is read on either side of it. Making one costs a launch of
// one thread and some 0.1 ms, at most ten times a second; without a session one load.
class WarpscopeCapture {
 public:
  GPUFL_API WarpscopeCapture() noexcept;

  // As the functions above; once for each launch.
  GPUFL_API WarpscopeStatus record(const uint64_t* words, size_t count,
                                   const WarpscopeInfo& info = {}) const noexcept;
  GPUFL_API WarpscopeStatus recordDevice(const void* device_words, size_t count,
                                         const WarpscopeInfo& info = {}) const noexcept;

 private:
  int64_t opened_ns_ = 0;  // 0: no session ran then
};

#else

inline WarpscopeStatus recordWarpscope(const uint64_t*, size_t,
                                       const WarpscopeInfo& = {}) noexcept {
  return WarpscopeStatus::NoSession;
}
inline WarpscopeStatus recordWarpscopeDevice(const void*, size_t,
                                             const WarpscopeInfo& = {}) noexcept {
  return WarpscopeStatus::NoSession;
}
class WarpscopeCapture {
 public:
  WarpscopeStatus record(const uint64_t*, size_t, const WarpscopeInfo& = {}) const noexcept {
    return WarpscopeStatus::NoSession;
  }
  WarpscopeStatus recordDevice(const void*, size_t, const WarpscopeInfo& = {}) const noexcept {
    return WarpscopeStatus::NoSession;
  }
};

#endif

}  // namespace gpufl
