// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Kernel names as people read them. Pure functions.
namespace gpufl::analysis {

// Without return type, namespaces, template arguments and parameters. Kernels that are a frame for
// any operation keep what they do: "vectorized_elementwise_kernel<MulFunctor>". `demangled`: whole.
std::string short_kernel_name(std::string_view demangled);

// What a report calls a kernel of that short name: "(no name)" where it has none, and no longer
// than a table can show.
std::string kernel_label(std::string_view short_name);
// The same for kernels that share a short name: each with what sets its whole name apart from the
// others, "gemm [float]" and "gemm [double]".
std::vector<std::string> kernel_labels(std::string_view short_name,
                                       const std::vector<std::string_view>& whole_names);
// What a report calls each of a session's kernels, whatever their short names are.
std::vector<std::string> all_kernel_labels(const std::vector<std::string_view>& whole_names);

}  // namespace gpufl::analysis
