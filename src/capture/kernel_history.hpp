// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "format/batch.hpp"

// The kernels that were last recorded, to find the one that a warpscope capture is of. Times are
// session time. One thread; at most kKernels, some nanoseconds each. Nearly all programs have no
// such captures: until somebody expects one, a few kernels are enough.
namespace gpufl::capture {

struct SeenKernel {
  int64_t start_ns = 0, end_ns = 0;
  int64_t device = -1;
  int64_t correlation = 0;
  int64_t thread = 0;         // that launched it; 0: unknown
  int64_t call_start_ns = 0;  // of the launch
};

// What is known of the kernel that is looked for.
struct KernelQuery {
  int64_t device = -1;                    // -1: any
  int64_t correlation = 0;                // 0: unknown
  int64_t thread = 0;                     // 0: unknown
  std::optional<int64_t> launched_after;  // session time
  std::optional<int64_t> launched_before;
  // It ran through all of this, give or take the error.
  std::optional<int64_t> begin_ns, end_ns;
  int64_t error_ns = 0;
};

struct KernelMatch {
  std::optional<SeenKernel> kernel;
  size_t candidates = 0;  // more than one: nobody can say which
  bool by_correlation = false;
};

class KernelHistory {
 public:
  static constexpr size_t kKernels = 16'384, kUnexpected = 1'024;

  // Captures are on their way: remembers kKernels from now on.
  void expect_captures();
  void add(const format::Batch& kernels);
  KernelMatch find(const KernelQuery& query) const;

 private:
  size_t bound_ = kUnexpected;
  std::vector<SeenKernel> kernels_;  // a ring once it is full
  size_t next_ = 0;
};

}  // namespace gpufl::capture
