// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.hpp"

// Sessions of shapes that programs have and that once cost more than their size: what each is made
// of, and which command of `gpufl` reads it.
namespace gpufl::bench {

struct Shape {
  std::string_view word;  // "streams", for the command line
  std::string_view what;  // "kernels on 8 streams by turns: report"
  size_t rows;            // n
  base::Status (*write)(const std::filesystem::path& folder, size_t rows);
  std::vector<const char*> command;  // of `gpufl`, before the folder
};
std::span<const Shape> shapes();

}  // namespace gpufl::bench
