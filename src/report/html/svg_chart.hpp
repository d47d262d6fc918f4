// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/math/series.hpp"

// Values over time as one line chart: an SVG element that needs no script and prints. Colours come
// from the page's style sheet.
namespace gpufl::report {

struct ChartLine {
  std::string name;
  analysis::Series series;
};

struct Chart {
  std::string title;
  std::string unit;  // of the scale: "%", "GiB", "W"
  std::vector<ChartLine> lines;
  double scale = 1;    // values are multiplied by it
  double ceiling = 0;  // what the scale reaches at least; 0: as high as the values
  int64_t start_ns = 0, end_ns = 0;
};

std::string svg_chart(const Chart& chart);

// `<`, `>`, `&` and quotes as entities; what no page may hold becomes U+FFFD.
std::string html_text(std::string_view text);

}  // namespace gpufl::report
