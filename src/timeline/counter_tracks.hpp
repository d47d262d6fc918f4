// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/session_texts.hpp"

// The samples of a session as the lines of charts. Holds row numbers, four bytes a sample.
namespace gpufl::timeline {

struct CounterTrack {
  enum class Of : uint8_t { Program, Device, Host };
  Of of = Of::Program;
  int32_t device = -1;
  std::string name;  // "gpu_utilization_pct", "core_busy_pct 3"
  const analysis::Samples* samples = nullptr;
  std::vector<uint32_t> rows;  // by time
};

// The program's, then those of each GPU, then the host's; in the order in which the log named them.
std::vector<CounterTrack> counter_tracks(const SessionTexts& texts);

}  // namespace gpufl::timeline
