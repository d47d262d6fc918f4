// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.hpp"

// A process's answer to `status` (docs/reference/control-protocol.md) as text. Pure; survives
// answers of other versions.
namespace gpufl::cli {

std::string control_line(const base::Json& status);  // one line, for a list
std::string control_page(const base::Json& status);

}  // namespace gpufl::cli
