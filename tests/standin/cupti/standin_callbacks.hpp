// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What happens around the work that cupti_standin.hpp plays: calls that take long, other tools,
// contexts and graphs that come and go. What the library's function cupti_standin_callbacks()
// returns. Any thread.
namespace gpufl::standin {

using Inside = void (*)(void* data);

struct CuptiStandinCallbacks {
  // Calls that do not return before `inside(data)` does; null: at once. Each returns its
  // correlation id.
  uint32_t (*device_synchronize)(Inside inside, void* data);  // the runtime's, the driver's inside
  uint32_t (*copy_and_wait)(Inside inside, void* data);       // likewise
  uint32_t (*load_module)(Inside inside, void* data);         // the driver's
  uint32_t (*launch_on_devices)(uint32_t devices);            // one call, a kernel for each
  uint32_t (*launch_ex)(int result);                          // cuLaunchKernelEx
  void (*capture)(bool begin);                                // the runtime's, the driver's inside
  void (*profiler)(bool start);                               // the driver's
  void (*resource)(uint32_t id);                              // of context 1
  void (*graph_node)(uint64_t node, uint64_t original);       // 0: made, else cloned from it
  // Makes the executable graph `exec` of graph `graph` (tests/standin/cuda), whose nodes are cloned
  // to `first_clone` and on.
  uint32_t (*instantiate)(uint32_t exec, uint64_t graph, uint32_t nodes, uint64_t first_clone);
  void (*enable_node)(uint32_t exec);  // or disable
  // Another tool of the process. Subscribing it holds the callbacks, which takes nothing from a
  // subscriber that is there; registering it takes every record from now on, null gives it up.
  void (*subscribe_other)(const char* name);
  void (*register_other)(bool registers);
  uint32_t (*others_buffers)();                     // that the other tool was given
  uint32_t (*flushes)();                            // since the library was loaded or finalised
  uint32_t (*stream_synchronize)(uint64_t stream);  // numbers of streams and
  uint32_t (*stream_wait_event)(uint64_t stream, uint64_t event);  // events: not 0
  // The runtime's launch of a kernel, with `inside` before the driver's call; no record comes of
  // it.
  uint32_t (*launch_around)(Inside inside, void* data, int driver_result, int runtime_result);
  void (*begin_forever)();  // a copy that never returns, as after a longjmp
  void (*fail_to_end_capture)(int result);
  void (*resource_of)(uint32_t id, uint64_t context);
  void (*set_context)(uint64_t context);  // of calls from now on; 0: nobody says
  // The runtime's call that makes a graph, the driver's inside.
  uint32_t (*make_graph)(Inside inside, void* data);
  void (*capture_on)(bool begin, uint64_t stream);  // the runtime's, the driver's inside
  void (*destroy_stream)(uint64_t stream);          // likewise
};

using CuptiStandinCallbacksFunction = const CuptiStandinCallbacks*();

}  // namespace gpufl::standin
