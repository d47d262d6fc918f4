// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "workbench/open.hpp"

// Which kernels are in a group of a report: those of an operator, a module, a line, a class, ...
// One session is in memory while it is made.
namespace gpufl::workbench {

// As members of a report call them after "by_".
inline constexpr std::array<std::string_view, 8> kGroupings = {
    "op", "module", "line", "scope", "class", "stream", "device", "api_call"};

struct GroupRequest {
  std::filesystem::path path;  // of one session
  std::string by;              // one of kGroupings
  std::string group;           // its full name or label
  OpenOptions open = {};
};

// In JSON; ends with a newline. NotFound: there is no such group, or nothing was recorded by which
// kernels could be grouped so.
base::Result<std::string> report_group(const GroupRequest& asked);

}  // namespace gpufl::workbench
