// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/figures/missing.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {

void write_markers(Page& page, const analysis::SessionSummary& summary, size_t top) {
  if (summary.markers.empty()) return;
  page.heading("MARKERS");
  TextTable table{{{"marker"},
                   {"domain", true, 4},
                   {"count"},
                   {"total"},
                   {"share", false, 1},
                   {"mean"},
                   {"min", false, 3},
                   {"max", false, 2}}};
  const auto lost = analysis::lost_markers(summary);
  const auto at_least = [&](const std::string& text) {
    return at_least_if(lost.has_value(), text);
  };
  for (const analysis::MarkerTotal& marker : summary.markers) {
    if (table.rows.size() == top) break;
    const analysis::Distribution& duration = marker.duration_ns;
    // A mark has no duration.
    const auto of_range = [&](bool known, std::string text) {
      return known ? std::move(text) : std::string("-");
    };
    const bool ended = duration.count > 0;
    const bool timed = ended || marker.open > 0;
    table.rows.push_back(
        {marker.name.empty() ? "(unnamed)" : marker.name, marker.domain,
         at_least(text::count(marker.count())),
         of_range(timed, at_least(text::duration(marker.total_ns()))),
         of_range(timed && summary.duration_ns > 0,
                  at_least_if(
                      lost && summary.ended,
                      text::percent(marker.total_ns() / static_cast<double>(summary.duration_ns)))),
         of_range(ended, text::duration(duration.mean())),
         of_range(ended, text::duration(duration.min)),
         of_range(ended, text::duration(duration.max))});
  }
  page.table(table);
  write_more(page, summary.markers.size(), table.rows.size());
  write_lower_bound(page, lost);
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const analysis::MarkerTotal& marker = summary.markers[i];
    if (marker.open == 0) continue;
    page.paragraph(2,
                   fmt::format("{}: {} still open (in count, total and share only)", marker.name,
                               text::count(marker.open)),
                   Tone::Plain, 2);
  }
}

}  // namespace gpufl::report
