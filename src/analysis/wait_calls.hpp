// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

// The kinds of wait that the log's `call` numbers (CUPTI's), and what each is called where no
// symbol tells the function.
namespace gpufl::analysis {

// The one that holds up a stream and not the host.
inline constexpr uint8_t kStreamWaitEvent = 2;

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
