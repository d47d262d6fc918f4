// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "client/options.hpp"

// The session that `gpufl trace` writes itself, about a program of which no process left one: so
// that the run says that it holds nothing, and what may stand behind that.
namespace gpufl::cli {

struct LaunchedProgram {
  std::string name;  // of the session
  std::vector<std::string> command;
  pid_t pid = 0;
  int64_t start_wall_ns = 0, start_monotonic_ns = 0;
  int exit_code = 0;  // as the launcher's own
  std::string engine;
  std::string circumstance;  // a sentence that may explain it; empty: none is known
  std::vector<client::OptionWarning> warnings;
  std::optional<int64_t> pass = {};  // as SessionHeader has them
  std::vector<std::string> passes = {};
};

// `folder` is the run's; its name is the run's id.
base::Status record_absent_sessions(const std::filesystem::path& folder,
                                    const LaunchedProgram& program);

}  // namespace gpufl::cli
