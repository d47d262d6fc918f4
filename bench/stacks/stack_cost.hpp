// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execinfo.h>
#include <unwind.h>

#include "base/clock.hpp"
#include "symbols/stack_table.hpp"

// What one stack of the calling thread costs, in ns of its CPU time, by our way and by the two that
// every program has.
namespace gpufl::bench {

inline constexpr int kMaxDepth = 256;

template <typename Body>
double stack_ns(int count, Body&& body) {
  const int64_t begin = base::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < count; ++i) {
    body();
    asm volatile("" ::: "memory");
  }
  return static_cast<double>(base::clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / count;
}

inline double record_ns(int count) {
  symbols::StackTable& table = symbols::StackTable::instance();
  return stack_ns(count, [&] { table.record(); });
}

inline double backtrace_ns(int count) {
  void* addresses[kMaxDepth];
  return stack_ns(count, [&] { backtrace(addresses, kMaxDepth); });
}

inline double unwind_backtrace_ns(int count) {
  return stack_ns(count, [] {
    int frames = 0;
    _Unwind_Backtrace(
        [](_Unwind_Context* context, void* data) {
          const auto address = _Unwind_GetIP(context);
          asm volatile("" : : "r"(address));
          ++*static_cast<int*>(data);
          return _URC_NO_REASON;
        },
        &frames);
  });
}

}  // namespace gpufl::bench
