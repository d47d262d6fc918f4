// SPDX-License-Identifier: Apache-2.0
// What python_stack_cost.py calls at the bottom of its stack.
#include "bench/stacks/stack_cost.hpp"

#define PROBE_EXPORT extern "C" __attribute__((visibility("default")))

PROBE_EXPORT double python_record_ns(int count) { return gpufl::bench::record_ns(count); }
PROBE_EXPORT double python_backtrace_ns(int count) { return gpufl::bench::backtrace_ns(count); }
PROBE_EXPORT int python_frames() {
  gpufl::symbols::StackTable& table = gpufl::symbols::StackTable::instance();
  int count = 0;
  for (const auto& frame : table.frames(table.record())) count += frame.is_python() ? 1 : 0;
  return count;
}
