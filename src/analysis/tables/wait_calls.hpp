// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/tables/tables.hpp"

// The kinds of wait that the log's `call` numbers (CUPTI's), and what each is called where no
// symbol tells the function.
namespace gpufl::analysis {

// The one that holds up a stream and not the host.
inline constexpr uint8_t kStreamWaitEvent = 2;

// Whether the call blocks the host.
inline bool holds_host(const Waits& waits, size_t row) {
  return waits.call.empty() || waits.call[row] != kStreamWaitEvent;
}

inline std::string_view wait_call_name(int64_t call) {
  switch (call) {
    case 1: return "EventSynchronize";
    case kStreamWaitEvent: return "StreamWaitEvent";
    case 3: return "StreamSynchronize";
    case 4: return "ContextSynchronize";
    default: return "wait";
  }
}

}  // namespace gpufl::analysis
