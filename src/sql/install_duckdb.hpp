// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.hpp"

// Fetches DuckDB's library by the user's npm, whose registry, proxy and credentials are the user's
// business, and puts it where queries look for it. What arrives is taken only if its hash is the
// one that this version of gpufl was tested with. Runs npm and tar as child processes; blocks.
namespace gpufl::sql {

// What is fetched for one kind of machine.
struct PinnedLibrary {
  std::string_view machine;  // as uname() says
  std::string_view package, version;
  std::string_view sha256;  // of libduckdb.so in it
};

// Of this machine; null: there is none.
const PinnedLibrary* pinned_library();
// "1.5.6"; "other" where nothing is pinned.
std::string pinned_version();

struct Installed {
  std::filesystem::path library;
  std::string version;
  bool was_there = false;
};
// `npm`: the program, looked for in PATH where it is a name. Unsupported, NotFound (no npm),
// Unavailable (npm failed), Corrupt (another hash): nothing is installed then.
base::Result<Installed> install_duckdb(const std::filesystem::path& library,
                                       const PinnedLibrary* pinned, const std::string& npm = "npm");

}  // namespace gpufl::sql
