// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/status.hpp"
#include "import/trace.hpp"

// A trace as a session on disk: work joined with the API calls behind it, calls with the scopes and
// stacks they were made in, all of it sealed. One thread.
namespace gpufl::importing {

struct SessionPlace {
  std::filesystem::path folder;  // in which the session's is made
  std::filesystem::path file;    // that the trace is from
  std::string session_id, run_id, app_name, gpufl_version;
};

struct WrittenSession {
  std::filesystem::path dir;
  int64_t duration_ns = 0;
  std::map<std::string, uint64_t> rows;  // by kind
};

// Unix time of what is earliest in the trace: where the session's time begins.
int64_t start_wall_ns(const Trace& trace);

// Sorts the trace's rows. Leaves no folder behind when it fails.
base::Result<WrittenSession> write_session(Trace& trace, const SessionPlace& place);

}  // namespace gpufl::importing
