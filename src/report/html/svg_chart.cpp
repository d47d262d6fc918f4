// SPDX-License-Identifier: Apache-2.0
#include "report/html/svg_chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "report/text_page.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

constexpr double kWidth = 720, kHeight = 170;
constexpr double kLeft = 54, kRight = 10, kTop = 10, kBottom = 24;
constexpr int kSteps = 4;  // of the scale
constexpr int kHues = 6;   // that the style sheet has

// The next number of 1, 2, 2.5 and 5 times a power of ten, so that the scale reads well.
double round_up(double value) {
  if (value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 2.5, 5.0}) {
    if (value <= step * power * (1 + 1e-9)) return step * power;
  }
  return 10 * power;
}

struct Scale {
  const Chart& chart;
  double top;

  double x(double time_ns) const {
    const double span = std::max(1.0, static_cast<double>(chart.end_ns - chart.start_ns));
    return kLeft +
           (time_ns - static_cast<double>(chart.start_ns)) / span * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    return kHeight - kBottom - value * chart.scale / top * (kHeight - kTop - kBottom);
  }
};

// How far apart points usually are: samples may come less often than a series has parts.
int64_t usual_distance_ns(const analysis::Series& series) {
  std::vector<int64_t> distances;
  for (size_t i = 1; i < series.points.size(); ++i) {
    distances.push_back(series.points[i].time_ns - series.points[i - 1].time_ns);
  }
  if (distances.empty()) return series.step_ns;
  const auto middle = distances.begin() + static_cast<ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

// One stroke for every unbroken stretch, a dot for a point alone: parts in which nothing was seen
// stay empty.
std::string path_of(const analysis::Series& series, const Scale& scale) {
  constexpr int64_t kMuchFarther = 4;
  const int64_t limit_ns = kMuchFarther * usual_distance_ns(series);
  const auto& points = series.points;
  const auto are_joined = [&](size_t first) {
    return first + 1 < points.size() &&
           points[first + 1].time_ns - points[first].time_ns <= limit_ns;
  };
  std::string path;
  for (size_t i = 0; i < points.size(); ++i) {
    const bool is_next = i > 0 && are_joined(i - 1);
    const double middle =
        static_cast<double>(points[i].time_ns) + static_cast<double>(series.step_ns) / 2;
    path += fmt::format("{}{:.1f} {:.1f}{}", is_next ? 'L' : 'M', scale.x(middle),
                        scale.y(points[i].mean), !is_next && !are_joined(i) ? "h0" : "");
  }
  return path;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text::make_harmless(text)) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string svg_chart(const Chart& chart) {
  double highest = chart.ceiling;
  for (const ChartLine& line : chart.lines) {
    for (const auto& point : line.series.points) {
      highest = std::max(highest, point.mean * chart.scale);
    }
  }
  const Scale scale{chart, round_up(highest)};
  std::string svg = fmt::format(
      R"(<figure class="chart"><figcaption>{} <span class="unit">{}</span></figcaption>)"
      R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{} over time">)",
      html_text(chart.title), html_text(chart.unit), kWidth, kHeight, html_text(chart.title));
  for (int step = 0; step <= kSteps; ++step) {
    const double value = scale.top * step / kSteps;
    const double y = scale.y(value / chart.scale);
    svg += fmt::format(R"(<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>)"
                       R"(<text x="{}" y="{:.1f}" text-anchor="end">{:g}</text>)",
                       kLeft, kWidth - kRight, y, y, kLeft - 6, y + 4, value);
    const double time_ns = static_cast<double>(chart.end_ns - chart.start_ns) * step / kSteps;
    svg += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="{}">{}</text>)",
                       scale.x(static_cast<double>(chart.start_ns) + time_ns), kHeight - 6,
                       step == 0        ? "start"
                       : step == kSteps ? "end"
                                        : "middle",
                       text::duration(time_ns));
  }
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    svg += fmt::format(R"(<path class="hue{}" d="{}"><title>{}</title></path>)", i % kHues,
                       path_of(chart.lines[i].series, scale), html_text(chart.lines[i].name));
  }
  svg += "</svg>";
  if (chart.lines.size() > 1) {
    svg += R"(<p class="legend">)";
    for (size_t i = 0; i < chart.lines.size(); ++i) {
      svg += fmt::format(R"(<span class="hue{}">{}</span> )", i % kHues,
                         html_text(chart.lines[i].name));
    }
    svg += "</p>";
  }
  svg += "</figure>\n";
  return svg;
}

}  // namespace gpufl::report
