// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/session/analysis_options.hpp"
#include "analysis/tables/tables.hpp"

// All scopes with the same names and tags around them are one path. Pure functions.
namespace gpufl::analysis {

inline constexpr uint32_t kMaxScopeDepth = 200;  // a deeper one has the path of its parent

// Which path each row of Tables::scopes has. What scope_work, kernel groups and iterations number
// paths by.
struct ScopePaths {
  struct Path {
    uint32_t name = 0, tag = 0;  // of Tables::names
    uint32_t parent = UINT32_MAX, depth = 0, end = 0;
    int64_t first_start_ns = 0;
    std::string text;
  };
  std::vector<Path> paths;
  std::vector<uint32_t> of_scope;  // by row of Tables::scopes; UINT32_MAX: left out by the options
  std::vector<bool> is_chosen;     // by path: it, or one around it, matches the options' scope
};
ScopePaths scope_paths(const Tables& tables, const AnalysisOptions& options);

}  // namespace gpufl::analysis
