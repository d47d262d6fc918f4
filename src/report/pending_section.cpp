// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "analysis/code/kernel_name.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {

// For a program that hung: what it was waiting for when its log stops, and kernels that still ran
// then.
void write_pending(Page& page, const analysis::SessionSummary& summary, size_t top) {
  if (summary.pending.empty()) return;
  page.heading(summary.live ? "RUNNING NOW" : "STILL RUNNING WHEN THE LOG ENDS");
  const bool names_kernels = std::any_of(summary.pending.begin(), summary.pending.end(),
                                         [](const auto& work) { return !work.kernel.empty(); });
  TextTable table{{{"call", true},
                   {"kernel", true},
                   {"began at"},
                   {"ago"},
                   {"thread"},
                   {"gpu"},
                   {"correlation", false, 1}},
                  {},
                  names_kernels ? size_t{1} : size_t{0}};
  for (const analysis::PendingWork& work : summary.pending) {
    if (table.rows.size() >= top) break;
    table.rows.push_back(
        {work.function, work.kernel.empty() ? "-" : analysis::short_kernel_name(work.kernel),
         text::duration(static_cast<double>(work.time_ns)),
         text::duration(static_cast<double>(summary.duration_ns - work.time_ns)),
         std::to_string(work.thread), work.device < 0 ? "?" : std::to_string(work.device),
         std::to_string(work.correlation)});
  }
  table.drop_empty_columns();
  page.table(table);
  write_more(page, summary.pending.size(), table.rows.size());
}

}  // namespace gpufl::report
