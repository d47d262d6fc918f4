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
  const uintptr_t begin =
      (reinterpret_cast<uintptr_t>(memory) + kLargePage - 1) & ~(kLargePage - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) & ~(kLargePage - 1);
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace gpufl::analysis
