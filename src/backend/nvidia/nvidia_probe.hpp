// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "backend/diagnosis.hpp"

// What of NVIDIA's is on this machine, in findings. Needs no header of theirs, so that a build
// without NVML can still say what is there.
namespace gpufl::backend {

// Whether the driver lets this process read hardware counters, which PC sampling does. Where the
// driver does not say, it is tried.
Availability counter_access(const std::string& root);

void probe_nvidia(const std::string& root, const Availability& health,
                  std::vector<Finding>& findings);

}  // namespace gpufl::backend
