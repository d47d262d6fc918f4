// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.hpp"

// What a multiprocessor of a GPU has room for, and in what pieces it gives it away: what it takes
// to tell how many blocks fit. Logs tell how many did (`occupancy_bounds`), but not of what; NVIDIA
// publishes it by architecture, and how much arithmetic it does in a clock. Pure functions; any
// thread.
namespace gpufl::analysis {

struct Multiprocessor {
  int64_t threads = 0, blocks = 0, registers = 0, shared_bytes = 0;
  int64_t shared_reserved_bytes = 0;  // of these, taken from each block
  int64_t warp_threads = 32;
  int64_t schedulers = 4;       // among which registers are divided evenly
  int64_t register_unit = 256;  // of a warp, in such pieces
  int64_t shared_unit_bytes = 128;
  // Operations that its arithmetic units do in a clock, a fused multiply-add as two, without tensor
  // cores; none: not published for the architecture.
  std::optional<int64_t> fp32_per_clock, fp64_per_clock;
  bool operator==(const Multiprocessor&) const = default;
};

// Of a `device` line; none: of a GPU that is not known here.
std::optional<Multiprocessor> multiprocessor_of(const base::Json& device);

}  // namespace gpufl::analysis
