// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/figures/kernel_groups.hpp"
#include "analysis/math/figure.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"

// Kernels that exchange data between GPUs (NCCL's and the like), against those that compute. Unions
// of times, by device.
namespace gpufl::analysis {

struct Communication {
  int64_t device = -1;
  uint64_t kernels = 0;
  int64_t communication_ns = 0;  // union
  int64_t compute_ns = 0;        // union of all other kernels
  int64_t overlapped_ns = 0;     // both
  int64_t exposed_ns() const { return communication_ns - overlapped_ns; }
  double overlap_share() const {
    return communication_ns == 0
               ? 0
               : static_cast<double>(overlapped_ns) / static_cast<double>(communication_ns);
  }
};

// Devices that ran such kernels; empty: none did. Unknown where no kernels were recorded.
Figure<std::vector<Communication>> communication(const SessionData& session,
                                                 const AnalysisOptions& options);

}  // namespace gpufl::analysis
