// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// What a program hands over of a launch that warpscope profiled. Plain data.
namespace gpufl::capture {

struct WarpscopeCapture {
  std::vector<uint64_t> words;
  std::map<uint32_t, std::string> event_names, group_names;  // win over those in the words
  std::string kernel;
  int64_t device = -1;        // number within the session; -1: unknown
  int64_t correlation = 0;    // of the launch; 0: unknown
  int64_t thread = 0;         // that launched, as far as is known
  int64_t opened_ns = 0;      // monotonic clock: launched after this; 0: unknown
  int64_t taken_ns = 0;       // and before this
  std::string clock_failure;  // why the GPU's clock was not measured; empty: it was
  bool is_followed = false;   // the GPU's clock was measured by a launch after taken_ns
  int64_t launch = 0;         // its number in the log, from WarpRecorder::take()
};

}  // namespace gpufl::capture
