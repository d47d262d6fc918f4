// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What a call of the program is to the callbacks that note it. A vendor may have two APIs, of which
// one is made of calls of the other: a runtime's, and the driver's below it. One that has a single
// API takes it for the driver's.
namespace gpufl::backend {

enum class CallRole : uint8_t {
  None,    // not watched
  Other,   // told only when it fails; and tracing is not given up in the middle of it
  Launch,  // of one kernel, by the driver
  MultiLaunch,
  GraphLaunch,
  RuntimeKernel,  // of one kernel, by the runtime
  RuntimeLaunch,  // of a graph or many kernels: the driver's call inside it says what was launched
  Begin,          // copies, fills and allocations that return at once, as a rule
  Wait,           // waits for the GPU: its stack matters
  StreamWait,     // makes a stream wait for an event
  CaptureBegin,
  CaptureEnd,
  StreamDestroy,
  ProfilerStart,
  ProfilerStop,
  GraphInstantiate,
  GraphChange,  // of which nodes of an instance are run
};

}  // namespace gpufl::backend
