// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/json.hpp"
#include "capture/deep_windows.hpp"
#include "format/capability.hpp"
#include "format/log_writer.hpp"

// What a session is asked to do. Plain data.
namespace gpufl::capture {

struct SessionConfig {
  std::string app_name = "gpufl";
  std::filesystem::path log_root;  // sessions are folders below it
  std::string engine = "Monitor";  // as asked for; Session falls down the ladder
  std::string backend = "auto";    // a name of backend::backend_names(), "auto" or "none"
  int sample_interval_ms = 0;      // 0: no sampling unless `continuous` or systemStart: then 100
  bool continuous_sampling = false;
  bool dormant =
      false;            // records nothing of the GPU until resume(); opens no vendor library for it
  bool stacks = false;  // CPU stacks at launches and waits
  bool sources = true;  // and the source text around the lines that they name
  double overhead_budget = 0;  // by which part the program may be slowed down; 0: none
  DeepWindowOptions deep_windows;
  std::string capture_range;    // as RangeGate has it; empty: all is recorded
  std::string run_id;           // sessions of one run share a folder; empty: no such folder
  std::optional<int64_t> pass;  // as SessionHeader has them
  std::vector<std::string> passes;
  backend::TraceOptions trace;            // its pointers are set by Session
  format::LogOptions log;                 // session_dir is set by Session
  std::vector<std::string> features;      // options turned on by hand, "enable_stack_trace": those
                                          // that the engine cannot serve are noted
  std::vector<format::Capability> notes;  // what the caller found while reading its options
  std::vector<base::Json> events;         // `event` lines of the start, without their time
};

}  // namespace gpufl::capture
