// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figures/kernel_groups.hpp"
#include "analysis/summary/summary.hpp"

// The kernels of one group of a session. Pure functions; any thread.
namespace gpufl::report {

// One line of JSON that ends with a newline. `by` and `group` say which group it is. Of `kernels`
// the first `most`, and what the others add up to.
std::string json_group_report(const analysis::SessionSummary& summary, std::string_view by,
                              std::string_view group,
                              const std::vector<analysis::KernelGroup>& kernels, size_t most);

}  // namespace gpufl::report
