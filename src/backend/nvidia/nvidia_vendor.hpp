// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/vendor.hpp"

// NVIDIA's row in the table of vendors. Needs no header of theirs.
namespace gpufl::backend {

extern const Vendor kNvidia;

}  // namespace gpufl::backend
