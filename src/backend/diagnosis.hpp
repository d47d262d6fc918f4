// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "base/json.hpp"

// What `gpufl doctor` asks of the vendors: what of theirs is on this machine, and what that allows.
// Looks at files, opens libraries, and starts CUDA where PC sampling may be had, to ask of it.
// A fraction of a second. One thread.
namespace gpufl::backend {

enum class FindingState : unsigned char {
  Good,
  Absent,   // not there, or not as hoped; matters only to what needs it
  Problem,  // something stands in the way
};
std::string_view to_string(FindingState state);

struct Finding {
  std::string topic;  // a stable word: "driver", "cupti", "permissions", ...
  FindingState state = FindingState::Good;
  std::string text;
  std::string hint;  // what to do; empty when there is nothing
  base::Json to_json() const;
};

struct Diagnosis {
  std::vector<Finding> findings;
  Availability health;  // the Monitor engine's part of the GPU
  Availability trace;
  Availability sampling;     // what PcSampling needs beside it
  Availability counting;     // what SassMetrics needs
  Availability ranging;      // what RangeProfiler needs
  Availability pm_sampling;  // what PmSampling needs
};

// `root` stands before /proc, /dev, /usr and every folder searched: a test's own, or empty.
Diagnosis diagnose(const std::string& root = "");

}  // namespace gpufl::backend
