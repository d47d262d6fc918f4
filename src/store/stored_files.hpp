// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
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

// Lines that were acknowledged and may not be in their files yet: a start writes them there.
class WaitingLines {
 public:
  // Of the journal of a store's folder.
  static base::Result<WaitingLines> read(const std::filesystem::path& folder);
  // Whether `file`, which may not exist, has all lines once those that wait for it are written, and
  // it lacks some until then.
  bool complete(const StoredSession& session, const StoredWindow& window,
                const std::filesystem::path& file) const;

 private:
  using Texts = std::map<uint64_t, std::string>;  // by their place in the window's text
  std::map<std::tuple<int64_t, format::Channel, uint64_t>, Texts> windows_;
};

}  // namespace gpufl::store
