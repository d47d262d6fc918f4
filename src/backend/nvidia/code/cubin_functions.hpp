// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace gpufl::backend {

// A function's mangled name, short enough to keep by the million.
uint64_t function_key(std::string_view name);

// Of the kernels and device functions that an image has code of, in order; empty for what is no
// image of NVIDIA's. Some 50 ns a symbol. Any thread.
std::vector<uint64_t> cubin_functions(std::string_view image);

}  // namespace gpufl::backend
