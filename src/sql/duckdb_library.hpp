// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/status.hpp"
#include "sql/duckdb_api.hpp"

// Which libduckdb a query runs on. Looks at the environment; opens nothing before it is asked to.
namespace gpufl::sql {

inline constexpr const char* kLibraryVariable = "GPUFL_DUCKDB";

// Where --install puts it: in the user's data folder. Empty where the user has none.
std::filesystem::path installed_library();

// The library at `named`; where that is empty, at the variable's path, else the installed one, else
// the system's. The status says what to do where there is none.
base::Result<DuckdbApi> find_duckdb(const std::string& named);

}  // namespace gpufl::sql
