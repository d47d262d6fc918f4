// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

// Several files as one stream, in the format that `tar` reads everywhere (POSIX ustar). One thread;
// memory does not follow their size.
namespace gpufl::server {

// With a table's name behind it, still short enough for an archive.
inline constexpr size_t kLongestFileName = 64;
// What a log says it is called, as a name that every system takes and that needs no quotes:
// letters, digits and "._-", anything else as "_"; cut where it is longer, but for `ending`.
std::string safe_file_name(std::string_view name, std::string_view ending);

// Each under its path below `folder`, which must be under 100 bytes.
base::Status write_tar(int fd, const std::filesystem::path& folder,
                       const std::vector<std::filesystem::path>& files);

}  // namespace gpufl::server
