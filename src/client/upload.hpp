// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <gpufl/upload.hpp>
#include <string>
#include <vector>

#include "base/status.hpp"

// Uploads by the program `gpufl`, as a child: nothing here uses a network. Any thread.
namespace gpufl::client {

// The program that comes with this library: beside it, as it is installed, built or packed into the
// Python package; else the first one in PATH. NotFound: what to do.
base::Result<std::filesystem::path> find_program();

// `folder`: of the session that an empty log_path means; empty: there was none.
UploadResult upload_logs(const UploadOptions& options, const std::filesystem::path& folder,
                         const base::Result<std::filesystem::path>& program = find_program());

// What is left of `inherited` for a child of ours: nothing that would have it recorded, too.
std::vector<std::string> child_environment(const std::vector<std::string>& inherited);

}  // namespace gpufl::client
