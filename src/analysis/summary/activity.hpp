// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "format/batch.hpp"

// How much the GPU did, as one line of figures. Durations are added up as they are: work that ran
// side by side counts twice.
namespace gpufl::analysis {

struct ActivityTotals {
  uint64_t kernels = 0, copies = 0, fills = 0, waits = 0;
  int64_t kernel_ns = 0, copy_ns = 0, fill_ns = 0, wait_ns = 0;
  int64_t copy_bytes = 0;       // of copies that tell their size
  uint64_t unsized_copies = 0;  // the others

  int64_t gpu_ns() const;

  // Rows of other kinds are passed over.
  void add(const format::Batch& batch);
  void add(const ActivityTotals& other);
  bool operator==(const ActivityTotals&) const = default;
};

}  // namespace gpufl::analysis
