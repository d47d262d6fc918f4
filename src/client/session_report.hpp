// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/status.hpp"

// The text of generateReport: what `gpufl report` prints of the same session. Reads it on the
// calling thread; memory grows with its rows, up to kMaxRows.
namespace gpufl::client {

// Some 64 bytes each, in the memory of somebody else's program: 256 MB. A session with more rows of
// GPU work gets a short report that says how to see the whole one.
inline constexpr uint64_t kMaxRows = 4'000'000;

base::Result<std::string> session_report(const std::filesystem::path& session_dir,
                                         uint64_t max_rows = kMaxRows);

}  // namespace gpufl::client
