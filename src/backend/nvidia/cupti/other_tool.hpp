// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Which other profiler of this process may hold CUPTI: CUPTI itself says only that one does.
namespace gpufl::backend {

// "torch.profiler (libtorch_cpu.so)"; empty when nothing is known. `injected` is the library that
// the environment has CUDA load, `loaded` the files that the process has mapped.
std::string name_other_tool(std::string_view injected, const std::vector<std::string>& loaded);
// The same of this process. `own_path`: our own library, which is no other tool.
std::string other_tool_here(const std::string& own_path);

}  // namespace gpufl::backend
