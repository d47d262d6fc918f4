// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>

#include "base/status.hpp"

// A session of a training run, written by the log's own writer and sealed: kernels as log_bench
// draws them, in scopes of one step each. Memory stays that of one batch.
namespace gpufl::bench {

base::Status write_kernel_session(const std::filesystem::path& folder, size_t kernels);

}  // namespace gpufl::bench
