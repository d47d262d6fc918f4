// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/status.hpp"

// Where libgpufl_inject.so lies: what GPUFL_INJECT_LIBRARY names, else beside this program, as it
// was installed or built. Main thread only.
namespace gpufl::cli {

base::Result<std::filesystem::path> find_inject_library();

}  // namespace gpufl::cli
