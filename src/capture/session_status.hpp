// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/json.hpp"
#include "capture/collector.hpp"
#include "capture/deep_windows.hpp"
#include "capture/gpu_recording.hpp"
#include "capture/instruments.hpp"
#include "format/log_writer.hpp"
#include "format/session_header.hpp"

// What `gpufl control status` shows of a session that runs. Any thread; waits for the collector a
// quarter of a second at most, and says so where it hangs.
namespace gpufl::capture {

struct StatusParts {
  const format::SessionHeader& header;
  const std::filesystem::path& dir;
  int64_t session_start_ns;
  const Instruments& instruments;
  const format::LogWriter& log;
  Collector& collector;
  const GpuRecording& recording;
  const DeepWindows& deep_windows;
};

base::Json session_status(const StatusParts& parts);

}  // namespace gpufl::capture
