// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// What the reasons mean that a GPU gives for a warp that did not issue an instruction: the one
// place for those words. Constant.
namespace gpufl::analysis {

struct StallReason {
  std::string_view name;     // "long_scoreboard"; of one that is not known, as it was given
  std::string_view meaning;  // a sentence; empty: not known
  std::string_view advice;   // sentences: what to try
  bool is_wait = true;       // false: the warp issued, or could have
};

// A name of the device's own table, taken apart.
struct StallName {
  std::string_view reason;  // "long_scoreboard"
  // The samples of the reason of the same name in which the scheduler issued nothing at all: they
  // are among those, and must not be added to them.
  bool is_not_issued = false;
};
// "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued"
StallName parse_stall(std::string_view device_name);

StallReason stall_reason(std::string_view reason);

}  // namespace gpufl::analysis
