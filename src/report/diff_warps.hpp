// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "analysis/warp/warp_diff.hpp"
#include "base/json.hpp"
#include "report/page.hpp"

// What a comparison tells of the inside of kernels that both sides profiled. Called by
// diff_report.cpp only; nothing where there are none.
namespace gpufl::report {

// At most `top` of those that differ by more than the noise; 0: all.
void write_warp_changes(Page& page, std::span<const analysis::WarpChange> changes, size_t top);
base::Json warp_changes_json(std::span<const analysis::WarpChange> changes);

}  // namespace gpufl::report
