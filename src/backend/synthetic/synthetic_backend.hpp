// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "backend/backend.hpp"

// A backend without a GPU, for tests, load and demos: the same options give the same rows. Only
// the thread id and the moment of start() come from outside. docs/reference/metrics.md has the
// variables.
namespace gpufl::backend {

struct SyntheticOptions {
  int64_t devices = 1;           // GPUFL_SYNTHETIC_DEVICES, 1 to 64
  int64_t kernels_per_s = 1000;  // GPUFL_SYNTHETIC_KERNELS_PER_S, 0 to 20 million, over all devices
  uint64_t seed = 1;             // GPUFL_SYNTHETIC_SEED
  int64_t first_device = 0;      // its number within the session

  // A variable that is no number is as if it were not set; one out of range is clamped.
  static SyntheticOptions from_environment();
};

std::unique_ptr<Backend> make_synthetic_backend(SyntheticOptions options);
std::unique_ptr<HealthSource> make_synthetic_health(const SyntheticOptions& options);
std::unique_ptr<Tracer> make_synthetic_tracer(const SyntheticOptions& options,
                                              const TraceOptions& trace = {});

}  // namespace gpufl::backend
