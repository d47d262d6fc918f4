// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "base/status.hpp"

// Several files as one stream, in the format that `tar` reads everywhere (POSIX ustar). One thread;
// memory does not follow their size.
namespace gpufl::server {

// Each under its path below `folder`, which must be under 100 bytes.
base::Status write_tar(int fd, const std::filesystem::path& folder,
                       const std::vector<std::filesystem::path>& files);

}  // namespace gpufl::server
