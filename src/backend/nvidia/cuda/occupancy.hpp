// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "backend/nvidia/cuda/cuda_driver.hpp"

// Theoretical occupancy: how many blocks of a kernel a multiprocessor can hold, by each resource
// alone and by all, after the rules that NVIDIA publishes in the CUDA programming guide and
// cuda_occupancy.h. Not considered: clusters, barriers, and a shared-memory carve-out below the
// largest. Any thread.
namespace gpufl::backend {

// What a multiprocessor has.
struct Multiprocessor {
  int32_t compute_major = 0, compute_minor = 0;
  int32_t threads = 0, blocks = 0, registers = 0;
  int32_t shared_bytes = 0, shared_reserved_bytes = 0;  // the latter of every block
  bool operator==(const Multiprocessor&) const = default;

  // None while CUDA does not answer, or for a GPU of which it does not tell all.
  static std::optional<Multiprocessor> of_device(const CudaDriver& driver, uint32_t ordinal);
};

struct Occupancy {
  // Blocks that each resource alone would allow; kUnlimited where none of it is used.
  static constexpr int32_t kUnlimited = INT32_MAX;
  int32_t by_warps = 0, by_registers = 0, by_shared = 0, by_blocks = 0;
  int32_t blocks = 0;      // that fit: the least of these
  int32_t hundredths = 0;  // of a percent: warps of these blocks, of all that there is room for
  // "waves", "registers", "shared_memory" or "groups", the words for all vendors: the first that is
  // least.
  std::string_view bound;
};

struct BlockNeeds {
  int32_t threads = 0, registers_per_thread = 0, shared_bytes = 0;
};

Occupancy occupancy(const Multiprocessor& sm, const BlockNeeds& needs);

}  // namespace gpufl::backend
