// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "backend/diagnosis.hpp"

// What of NVIDIA's is on this machine, in findings. Needs no header of theirs, so that a build
// without NVML can still say what is there.
namespace gpufl::backend {

void probe_nvidia(const std::string& root, const Availability& health,
                  std::vector<Finding>& findings);

}  // namespace gpufl::backend
