// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What a callback notes of an API call, independently of CUPTI's records: the ledger's proof per
// correlation id, the stack of the call, and, for a hang, what has begun and not ended.
namespace gpufl::backend {

enum class CallNoteKind : uint8_t {
  Launch,       // a kernel launch that returned without error; its record must come
  GraphLaunch,  // likewise of a graph: at least one record of its nodes, unless the graph is empty
  CallBegin,    // a wait, copy, fill or allocation has begun; its end is the API record
};

struct CallNote {
  int64_t time_ns;       // monotonic clock, when the call began
  uint32_t correlation;  // CUPTI's id: a runtime call and the driver call inside it share it
  uint32_t context;      // CUPTI's context id (contextUid)
  uint32_t thread;       // system thread id
  uint32_t stack;        // what StackRecorder::record() gave; 0: none
  uint16_t function;     // number of the driver's function
  CallNoteKind kind;
};

}  // namespace gpufl::backend
