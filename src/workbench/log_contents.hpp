// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"
#include "format/session_header.hpp"
#include "format/window_file.hpp"

// What the files of a session hold: lines and rows as they are read, so that windows which are
// being written, or were not sealed, have numbers too. Reads all of it. One thread.
namespace gpufl::workbench {

struct WindowContents {
  format::WindowFile file;
  uint64_t lines = 0;
  uint64_t rows = 0;   // of a deleted window, as the manifest tells
  uint64_t bytes = 0;  // on disk
};

struct LogContents {
  std::filesystem::path dir;
  format::SessionHeader header;
  bool is_live = false;
  std::vector<WindowContents> windows;
  std::map<std::string, uint64_t> kinds;  // rows of each
  uint64_t problems = 0;                  // of which format::verify_session tells more

  base::Json to_json() const;
};

// Fails as SessionReader::open does.
base::Result<LogContents> read_contents(const std::filesystem::path& session);

std::string_view to_string(format::WindowFile::State state);  // "sealed"

}  // namespace gpufl::workbench
