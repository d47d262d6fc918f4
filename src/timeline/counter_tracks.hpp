// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/batch.hpp"
#include "timeline/session_texts.hpp"

// The samples of a session as the lines of charts. Holds row numbers, four bytes a sample.
namespace gpufl::timeline {

struct CounterTrack {
  enum class Of : uint8_t { Program, Device, Host };
  Of of = Of::Program;
  int32_t device = -1;
  std::string name;  // "gpu_utilization_pct", "core_busy_pct 3", "dram__bytes.sum"
  // One of the two: readings, or hardware counters (`pm_sample`), which are no whole numbers.
  const analysis::Samples* samples = nullptr;
  const format::Batch* hardware = nullptr;
  std::vector<uint32_t> rows;  // by time

  int64_t time(uint32_t row) const;
  double real_value(uint32_t row) const;  // of hardware counters
};

// The program's, then those of each GPU, then its hardware counters, then the host's; in the order
// in which the log named them.
std::vector<CounterTrack> counter_tracks(const SessionTexts& texts);

}  // namespace gpufl::timeline
