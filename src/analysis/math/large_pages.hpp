// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

// Asks the kernel for large pages under memory that is about to be filled from end to end: where it
// grants them, filling hundreds of megabytes takes half the time. A hint; any thread.
namespace gpufl::analysis {

inline void prefer_large_pages(const void* memory, size_t bytes) {
  constexpr uintptr_t kLargePage = uintptr_t{2} << 20;
  constexpr size_t kWorthIt = 2 * kLargePage;
  if (bytes < kWorthIt) return;
  // Whole large pages only: what lies beside belongs to others.
  const uintptr_t before = -reinterpret_cast<uintptr_t>(memory) % kLargePage;
  const size_t whole = (bytes - before) / kLargePage * kLargePage;
  auto* const begin = static_cast<char*>(const_cast<void*>(memory)) + before;
  madvise(begin, whole, MADV_HUGEPAGE);  // changes no byte
}

}  // namespace gpufl::analysis
