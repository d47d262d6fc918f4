// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"

// Where a process that records listens for its user, and how it is asked: a Unix socket in a
// folder that nobody else may enter, one JSON object per line each way
// (docs/reference/control-protocol.md). Any thread; every call is bounded in time.
namespace gpufl::client {

inline constexpr size_t kMaxControlLine = 4096;              // of a request
inline constexpr size_t kMaxControlReply = size_t{1} << 20;  // of an answer

// $XDG_RUNTIME_DIR/gpufl where that variable names a folder of this user's, else
// /tmp/gpufl-<uid>. The folder may not be there yet.
std::filesystem::path control_folder();
// Every folder in which a process of this user may listen, whatever its environment: both of those
// above.
std::vector<std::filesystem::path> control_folders();
// Makes the folder where it is not there. Refuses one that is a link, another user's, or open to
// others.
base::Status ensure_private_folder(const std::filesystem::path& folder);

std::filesystem::path control_path(const std::filesystem::path& folder, pid_t pid);

// The processes of this user that listen, sorted. Sockets whose process is gone are removed.
std::vector<pid_t> find_controlled_processes();

struct ControlQuestion {
  pid_t pid;
  base::Json request;
};
// Asks all of them at once and waits until every one has answered, for `patience` in all. An answer
// for each question, in their order: an object. NotFound when it does not listen
// (or is not there), PermissionDenied when it is another user's, Unavailable when no answer came
// in time.
std::vector<base::Result<base::Json>> ask_processes(std::span<const ControlQuestion> questions,
                                                    std::chrono::milliseconds patience);
base::Result<base::Json> ask_process(pid_t pid, const base::Json& request,
                                     std::chrono::milliseconds patience);

}  // namespace gpufl::client
