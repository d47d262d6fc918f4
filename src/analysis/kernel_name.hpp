// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Kernel names as people read them. Pure functions.
namespace gpufl::analysis {

// Without return type, namespaces, template arguments and parameters. Kernels that are a frame for
// any operation keep what they do: "vectorized_elementwise_kernel<MulFunctor>". `demangled`: whole.
std::string short_kernel_name(std::string_view demangled);

}  // namespace gpufl::analysis
