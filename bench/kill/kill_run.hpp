// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// One program killed with SIGKILL while it records, and what its log then holds. One thread.
namespace gpufl::bench {

struct KillOutcome {
  std::vector<std::string> failures;  // what is wrong with the log, whenever the kill came
  std::vector<std::string> late;      // what should have been on disk by then, and was not
  uint64_t scopes_owed = 0;           // ended more than 250 ms before the kill
  uint64_t scopes_found = 0;          // of those, in the log
  double newest_age_ms = 0;           // of the newest scope that is readable, at the kill
  std::string verdict;                // of verify
  std::vector<std::string> reasons;
};

// Starts `victim`, kills it `life` after something of each kind has come to its log, reads that.
KillOutcome kill_and_read(const std::string& victim, std::chrono::milliseconds life);

// Between 300 ms and two seconds, at random.
std::chrono::milliseconds random_life();

}  // namespace gpufl::bench
