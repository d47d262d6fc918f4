// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "base/status.hpp"

// A session of a training run, written by the log's own writer and sealed: kernels as log_bench
// draws them, in scopes of one step each. Memory stays that of one batch.
namespace gpufl::bench {

// Over how many lanes kernels are dealt, each a device with its own context, stream, threads and
// steps, so that all of these columns alternate.
struct Lanes {
  int64_t count = 1;
  bool is_random = false;  // which lane is next; else they take turns
  bool has_outer = false;  // a scope around all of them, on a thread of its own
};

// `window_bytes`: of text, at which a window is sealed.
base::Status write_kernel_session(const std::filesystem::path& folder, size_t kernels,
                                  const Lanes& lanes = {},
                                  uint64_t window_bytes = uint64_t{64} << 20);

}  // namespace gpufl::bench
