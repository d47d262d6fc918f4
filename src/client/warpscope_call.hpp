// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// What include/gpufl/warpscope.hpp asks of the copy of the library that has the session: plain C,
// because that may be another copy (client/joining.hpp). Borrows everything it points to.
namespace gpufl::client {

struct WarpscopeName {
  uint32_t id;
  const char* text;
  size_t size;
};

struct WarpscopeCall {
  uint32_t size;  // of this struct, as the caller knows it
  uint32_t is_on_device;
  const uint64_t* words;
  size_t count;
  const WarpscopeName* event_names;
  size_t event_count;
  const WarpscopeName* group_names;
  size_t group_count;
  const char* kernel;
  size_t kernel_size;
  int64_t device;
  int64_t correlation;
  int64_t thread;     // that calls
  int64_t opened_ns;  // monotonic clock; 0: unknown
};

}  // namespace gpufl::client
