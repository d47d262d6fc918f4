// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/status.hpp"

// A copy of a session without what should not leave this machine. Windows are sealed anew, since
// their first lines change, and the manifest tells of the copy. Any thread.
namespace gpufl::agent {

struct Redaction {
  bool source = false;   // text of source files; readers are told that they may not add any
  bool command = false;  // the program's command line

  bool is_any() const { return source || command; }
};

// Into `copy`, an empty folder. `disassembly.ndjson.zst` is left out: it can be made again from the
// modules. Unsupported for a session that is being written.
base::Status copy_redacted(const std::filesystem::path& session, const std::filesystem::path& copy,
                           const Redaction& redaction);

}  // namespace gpufl::agent
