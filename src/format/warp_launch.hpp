// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"

// What is told once of a launch whose inside was recorded: a `warp_launch` line (SPEC.md), to which
// the `warp_span` rows of the same `launch` belong. Recorder and importer write it with to_json(),
// analysis reads it back with read_warp_launch(). Plain data; any thread.
namespace gpufl::format {

struct WarpLaunch {
  int64_t launch = 0;  // as in its rows: from 1, one for each capture of the session
  int64_t time_ns = 0, duration_ns = 0;  // from its first record to its last
  std::string kernel;                    // as the capture calls it; empty: it does not
  int64_t device = -1;                   // -1: unknown
  int64_t correlation = 0;               // of the kernel's row; 0: none was found
  std::string join;                   // how it was found: "correlation", "time"; empty: it was not
  std::optional<uint64_t> launch_id;  // that the host chose

  int64_t blocks = 0, groups = 0;        // its shape
  int64_t max_records = 0;               // slots of a lane; 0: unknown
  std::vector<std::string> group_names;  // by number; empty: it has none
  std::vector<std::string> waits;        // events that are waiting, not work; as in the rows
  std::vector<std::pair<std::string, std::string>> flows;  // the end of one releases the other

  std::string clock = "globaltimer";  // or "cycles"
  int64_t tick_ps = 32'000;           // how finely it counts
  std::optional<int64_t> error_ns;    // of its place on the session's clock; none: not tied to it
  std::optional<int64_t> event_cost_ps;  // what recording one event takes on this device

  int64_t records = 0;                // decoded: begins, ends and instants
  std::optional<int64_t> offered;     // by the kernel, dropped ones included; none: unknown
  std::optional<int64_t> dropped;     // of those
  int64_t full_lanes = 0;             // that may have lost records, where `dropped` is unknown
  std::vector<std::string> problems;  // of decoding, in words
  int64_t problems_left_out = 0;      // beyond kMaxProblems

  static constexpr size_t kMaxProblems = 32;
  static constexpr size_t kMaxNames = 1024;
};

// The line without "type". Problems beyond kMaxProblems are counted, names beyond kMaxNames left
// out.
base::Json to_json(const WarpLaunch& launch);
// Takes any line: what it lacks, or has of another type, stays as above.
WarpLaunch read_warp_launch(const base::Json& line);

}  // namespace gpufl::format
