// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/status.hpp"

// The session that `gpufl trace` writes itself, about a program of which no process ever loaded the
// injected library: so that the run says why it holds nothing.
namespace gpufl::cli {

struct LaunchedProgram {
  std::string name;  // of the session
  std::vector<std::string> command;
  pid_t pid = 0;
  int64_t start_wall_ns = 0, start_monotonic_ns = 0;
  int exit_code = 0;  // as the launcher's own
  std::string engine;
};

// `folder` is the run's; its name is the run's id.
base::Status record_unused_cuda(const std::filesystem::path& folder,
                                const LaunchedProgram& program);

}  // namespace gpufl::cli
