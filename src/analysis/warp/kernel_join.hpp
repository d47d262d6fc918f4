// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include "analysis/tables/tables.hpp"

// Finds the kernel that a profiled launch is. The tables must outlive it; made once, in time linear
// in the kernels.
namespace gpufl::analysis {

class KernelJoin {
 public:
  explicit KernelJoin(const Tables& tables);
  // The row of the kernel; kNoRow: the log has none of that correlation id and device.
  uint32_t find(const format::WarpLaunch& launch) const;

 private:
  const Tables& tables_;
  std::unordered_multimap<int64_t, uint32_t> rows_;  // of kernels that launches name
};

}  // namespace gpufl::analysis
