// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gpufl/export.hpp>
#include <gpufl/options.hpp>

#include <string>

// The session's life. Any thread may call any of these at any time; none throws, prints (unless
// enable_debug_output), installs a signal handler or ends the process. While a session runs, a
// program whose main thread has left by pthread_exit is ended, by exit(0), once no thread but the
// library's own is left. After fork() the child has no session until it calls init() itself.
namespace gpufl {

struct SessionStatus {
  bool recording = false;  // a session runs in this process
  std::string reason;      // why none does: of the last init(), if it failed; empty while one does
};

#ifndef GPUFL_COMPILED_OUT

// Starts recording. True when a session runs now: a second call joins the first's session and
// changes nothing. False when disabled, when the log folder cannot be made, and at exit(); status()
// has the reason.
GPUFL_API bool init(const InitOptions& opts);

// Whether a session runs, and why not.
GPUFL_API SessionStatus status();

// Ends the session: everything recorded so far is on disk, sealed, when it returns. Safe without
// init and when repeated; also run at exit(). A dlclose() of what linked the library does not end
// the session: the library stays loaded.
GPUFL_API void shutdown();

// Recording of the GPU ends with pause() and begins again with resume(), at no cost in between;
// scopes, counters and metrics go on. True when that is so now, also where it was before. False
// without a session of this process's own (under `gpufl trace` it is the launcher's), and where the
// GPU cannot be recorded; with enable_debug_output the reason is printed.
GPUFL_API bool pause();
GPUFL_API bool resume();

// The report of this process's session, or its last one, as text: to the file, or to stdout when
// the path is empty. Printing to stdout is what this call is for.
GPUFL_API void generateReport(const std::string& output_path = "");

// Sampling of system metrics between the two, whatever scopes are open. Calls nest; each name's
// stop undoes one start. The name is marked in the log.
GPUFL_API void systemStart(const std::string& name = "system");
GPUFL_API void systemStop(const std::string& name = "system");

#else

inline bool init(const InitOptions&) { return false; }
inline SessionStatus status() { return {false, "gpufl is compiled out"}; }
inline void shutdown() {}
inline bool pause() { return false; }
inline bool resume() { return false; }
inline void generateReport(const std::string& = "") {}
inline void systemStart(const std::string& = "system") {}
inline void systemStop(const std::string& = "system") {}

#endif

}  // namespace gpufl
