// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbols/symbolize_session.hpp"

// How this program reads debug information.
namespace gpufl::cli {

// What the build gives it; null: nothing.
const symbols::LibdwApi* libdw();

}  // namespace gpufl::cli
