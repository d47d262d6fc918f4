// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"

// Runs another program to its end and takes what it prints, within limits: it may hang, fail or
// print without end. Blocks the calling thread. Its process group is killed when a limit is
// reached.
namespace gpufl::base {

struct ChildLimits {
  std::chrono::milliseconds time{120'000};
  size_t output_bytes = size_t{512} << 20;
};

struct ChildOutput {
  int exit_code = -1;  // 128 and the signal's number when one ended it
  std::string out;
  std::string err;  // its first few KiB
};

// The descriptor under which the program finds `input`.
inline constexpr int kChildInput = 3;

struct ChildSetup {
  int input = -1;         // what it finds as kChildInput; -1: nothing
  std::string text = {};  // what it reads from standard input; a few KiB at most
  std::optional<std::vector<std::string>> environment = {};  // none: ours
  bool shows_errors = false;                                 // its stderr is ours
  // Ctrl-C at our terminal reaches it, too, and what we ignore it ignores. It starts no others.
  bool is_in_our_group = false;
};

// NotFound or PermissionDenied when it cannot be started, LimitReached when it was killed. Also
// for programs of others that we are a guest in: no signal reaches them, and their descriptors stay
// with them.
Result<ChildOutput> run_child(const std::filesystem::path& program,
                              const std::vector<std::string>& arguments, const ChildSetup& setup,
                              const ChildLimits& limits);

}  // namespace gpufl::base
