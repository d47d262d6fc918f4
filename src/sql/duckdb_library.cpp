// SPDX-License-Identifier: Apache-2.0
#include "sql/duckdb_library.hpp"

#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

#include "sql/install_duckdb.hpp"

namespace gpufl::sql {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "libduckdb.so";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

fs::path data_folder() {
  // A relative path there is to be ignored, as the rules for that variable say.
  if (const fs::path folder = variable("XDG_DATA_HOME"); folder.is_absolute()) return folder;
  const fs::path home = variable("HOME");
  return home.is_absolute() ? home / ".local" / "share" : fs::path();
}

}  // namespace

fs::path installed_library() {
  const fs::path folder = data_folder();
  return folder.empty() ? folder
                        : folder / "gpufl" / fmt::format("duckdb-{}", pinned_version()) / kFile;
}

base::Result<DuckdbApi> find_duckdb(const std::string& named) {
  const std::string asked = named.empty() ? variable(kLibraryVariable) : named;
  if (!asked.empty()) {
    // By its path: the loader would look for a name alone in other places.
    std::error_code error;
    const fs::path path = fs::absolute(asked, error);
    if (!fs::is_regular_file(path, error)) {
      return base::Status(base::Code::NotFound, asked + ": there is no such file");
    }
    return open_duckdb(path.string());
  }
  std::error_code error;
  const fs::path installed = installed_library();
  if (!installed.empty() && fs::is_regular_file(installed, error)) {
    return open_duckdb(installed.string());
  }
  auto system = open_duckdb(kFile);
  if (system || system.status().code() != base::Code::NotFound) return system;
  return base::Status(
      base::Code::NotFound,
      fmt::format("queries need DuckDB's library, and it is not on this machine. `gpufl sql "
                  "--install` fetches it with npm (24 MB); or name a libduckdb.so with --library "
                  "or {}",
                  kLibraryVariable));
}

}  // namespace gpufl::sql
