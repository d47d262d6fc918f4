// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The stand-in libcupti plays a recording (recording.hpp): what its function cupti_standin_replay()
// does. Callbacks come on the calling thread, buffers as they are complete.
namespace gpufl::standin {

struct Replay {
  const char* path = nullptr;
  // The faults of a bad day.
  uint32_t withhold_every = 0;  // of kernel records, every so-many-th is lost, and nobody says so
  uint32_t drop_every = 0;      // the same, and CUPTI counts it
  bool reorder = false;         // buffers come last first
  bool truncate = false;        // every buffer ends in the middle of a record
  bool delay = false;           // buffers come when all callbacks have
  bool without_callbacks = false;
};

struct Replayed {
  bool is_good = false;  // else the file is none, or is not of this stand-in's layouts
  uint32_t kernels = 0, withheld = 0, dropped = 0;
  uint32_t launches = 0;     // callbacks of launches that returned
  uint64_t duration_ns = 0;  // the newest time in the records is that of the replay's beginning
};

using CuptiStandinReplayFunction = void(const Replay& replay, Replayed& result);

}  // namespace gpufl::standin
