// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/run_report.hpp"

// The few numbers that a page begins with: how long, how busy, how many kernels, and whether all of
// it is there.
namespace gpufl::report {

// A list for the page's head; of a run, all sessions together.
std::string head_figures(const RunReport& report);

}  // namespace gpufl::report
