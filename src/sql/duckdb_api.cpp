// SPDX-License-Identifier: Apache-2.0
#include "sql/duckdb_api.hpp"

#include "base/dynamic_library.hpp"

namespace gpufl::sql {

base::Result<DuckdbApi> open_duckdb(const std::string& path) {
  // Its code stays mapped when `library` goes.
  const auto library = base::DynamicLibrary::open({path});
  if (!library) return library.status();
  DuckdbApi api;
  std::string missing;
#define GPUFL_LOAD(result, name, arguments) \
  if (!library->load("duckdb_" #name, api.name)) missing = "duckdb_" #name;
  GPUFL_DUCKDB_FUNCTIONS(GPUFL_LOAD)
#undef GPUFL_LOAD
  api.path = library->path().empty() ? path : library->path();
  if (!missing.empty()) {
    return base::Status(base::Code::Unavailable, api.path + " has no " + missing);
  }
  return api;
}

}  // namespace gpufl::sql
