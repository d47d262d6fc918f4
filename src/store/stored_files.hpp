// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "store/catalogue.hpp"

// Files of a store's folder, as the catalogue tells of them, for those who look at it from outside.
namespace gpufl::store {

// Where a file of a session is: a session that is deleted or restored meanwhile moves.
std::optional<std::filesystem::path> find_file(const std::filesystem::path& folder,
                                               const StoredSession& session,
                                               const std::string& name);
base::Result<std::vector<StoredSession>> all_sessions(Catalogue& catalogue);
std::string window_name(const StoredWindow& window, bool is_sealed);

}  // namespace gpufl::store
