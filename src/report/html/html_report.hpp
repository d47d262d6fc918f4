// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "report/run_report.hpp"

// A session or a run as one self-contained HTML file: the sections of the text report, a timeline
// to zoom into, and charts. Opens from disk, needs no network, prints. Size is bounded: of a
// million kernels at most 5 MB.
namespace gpufl::report {

struct HtmlOptions {
  TextOptions text = {};        // width and colour do not count
  size_t max_blocks = 100'000;  // of the timeline
};

// With the insights of each session of the run.
std::string html_report(const RunReport& report, const HtmlOptions& options = {});

}  // namespace gpufl::report
