// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"
#include "capture/deep_windows.hpp"
#include "capture/metric_board.hpp"
#include "capture/session_config.hpp"
#include "capture/warpscope_capture.hpp"
#include "format/capability.hpp"

// One recording: the log, the collector's thread, the sampler's threads. Used by the client
// library and by the monitor programs. All calls from any thread; none throws.
namespace gpufl::capture {

class Session {
 public:
  static base::Result<std::unique_ptr<Session>> start(SessionConfig config);
  virtual ~Session() = default;

  virtual const std::filesystem::path& dir() const = 0;
  virtual const std::vector<format::Capability>& capabilities() const = 0;
  virtual void system_start(std::string_view name) = 0;
  virtual void system_stop(std::string_view name) = 0;
  virtual MetricBoard board() const = 0;
  // Everything recorded before the call is in the log, unsealed, when it returns.
  virtual void flush() = 0;
  // Recording of the GPU while the program runs; scopes, counters and health go on. Repeating
  // either is no error. resume() fails, with the reason's word in front, when the engine cannot
  // run.
  virtual base::Status resume() = 0;
  virtual base::Status pause() = 0;
  // A deep window: open_deep_window() fails, with the reason's word in front, where none opens.
  // Returns at once: the engine is attached some tens of milliseconds later.
  virtual base::Status open_deep_window(format::DeepWindowOpener opener,
                                        const DeepWindowRequest& request) = 0;
  virtual base::Status close_deep_window(format::DeepWindowEnd ending) = 0;
  // An event `mark` at the time of the call.
  virtual void mark(std::string_view text) = 0;
  // Before a launch that warpscope profiles: reads the GPU's clock, unless that was done of late.
  virtual void open_warpscope() = 0;
  // After it, on the same thread: the words are its capture. Fails with LimitReached when too much
  // waits to be written.
  virtual base::Status record_warpscope(WarpscopeCapture capture) = 0;
  // Appends words from the memory of the GPU that is current on this thread.
  virtual base::Status copy_from_device(const void* device_words, size_t count,
                                        std::vector<uint64_t>& words) = 0;
  // What `gpufl control status` shows: session_id, dir, state, engine, times, counts, what is
  // pending.
  virtual base::Json status() const = 0;
  // Ends the recording and seals the log. Idempotent.
  virtual base::Status stop() = 0;
  // After fork(), in the child: no thread of ours runs there; touches no file, joins nothing.
  virtual void abandon() = 0;
};

}  // namespace gpufl::capture
