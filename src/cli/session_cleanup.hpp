// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

// Makes room for the next session of a service that is started again and again. Deletes data: only
// called when a user has asked for it.
namespace gpufl::cli {

// Deletes the oldest sessions of that name under `folder` until the others take no more than
// `keep_bytes`. One that is still recorded, or cannot be read, is left alone. Returns what was
// deleted.
std::vector<std::filesystem::path> delete_old_sessions(const std::filesystem::path& folder,
                                                       std::string_view name, uint64_t keep_bytes);

}  // namespace gpufl::cli
