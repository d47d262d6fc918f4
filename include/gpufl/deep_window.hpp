// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gpufl/export.hpp>

#include <string>

// Deep windows: short stretches, bounded in time and launches, in which the session's engine above
// Trace is attached. With deep_window_only it is attached in no other. One is open at a time. The
// log says what opened and closed each and how many launches it covered. Any thread. These calls
// wait for others that begin, pause, resume or end recording, and for nothing else; none throws.
namespace gpufl {

struct DeepWindowSpec {
  int max_duration_ms = 0;  // 10 to 60,000, beyond which it is cut; 0: deep_window_ms
  int max_launches = 0;     // it closes some tens of milliseconds after as many; 0: as
                            // deep_window_max_launches says
  int cooldown_ms = 0;      // after it, this call opens no other for so long; 0: at once
  std::string name = "";    // in the log and in reports
};

#ifndef GPUFL_COMPILED_OUT

// True when this call has opened a window: the engine is attached some tens of milliseconds later,
// and the duration counts from then on. False when one is open already, in its cooldown, while
// recording is paused, and where the session has no engine above Trace; the log says which.
GPUFL_API bool deepWindow(const DeepWindowSpec& spec) noexcept;
GPUFL_API bool deepWindow(int max_duration_ms, int max_launches = 0) noexcept;
// Closes the window that is open, whoever opened it.
GPUFL_API void deepWindowClose() noexcept;
// Whether one is open, or opening: an atomic load.
GPUFL_API bool deepWindowActive() noexcept;

#else

inline bool deepWindow(const DeepWindowSpec&) noexcept { return false; }
inline bool deepWindow(int, int = 0) noexcept { return false; }
inline void deepWindowClose() noexcept {}
inline bool deepWindowActive() noexcept { return false; }

#endif

}  // namespace gpufl
