// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>

#include "format/problem.hpp"

// Checks of the files beside a log: no window, hash or count of the log knows of them, so they are
// held against their own lines and against the frames of the log. Called by verify_session().
namespace gpufl::format {

using ProblemSink = std::function<void(const Problem&)>;

// How many frames symbols.ndjson names; none: there is no such file. `native_frames`: ids of the
// log's; null where windows of it are gone, and with them the definitions of some.
std::optional<uint64_t> check_symbols(const std::filesystem::path& session_dir,
                                      const std::string& session_id,
                                      const std::unordered_set<int64_t>* native_frames,
                                      const ProblemSink& report);

void check_disassembly(const std::filesystem::path& session_dir, const std::string& session_id,
                       const ProblemSink& report);

}  // namespace gpufl::format
