// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/json.hpp"
#include "format/manifest.hpp"
#include "format/problem.hpp"
#include "format/window_file.hpp"

// What a session's folder holds, before any window is read: the files and the manifest brought
// together, with every state that a crash of the writer can leave (SPEC.md, "After a crash").
namespace gpufl::format {

struct SessionScan {
  bool is_session = false;
  std::vector<WindowFile> windows;  // in (channel, number) order
  std::vector<Problem> problems;
  std::optional<base::Json> session_line;  // of the manifest
};
SessionScan scan_session(const std::filesystem::path& dir);
// By the names in it alone.
bool is_session_folder(const std::filesystem::path& dir);

// The first line of a window, parsed; nothing when it cannot be had.
std::optional<base::Json> first_line(const std::filesystem::path& file);

}  // namespace gpufl::format
