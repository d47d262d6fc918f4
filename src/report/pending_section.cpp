// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {

// For a program that hung: what it was waiting for when its log stops. One that ended cleanly has
// told this in its ledger.
void write_pending(Page& page, const analysis::SessionSummary& summary, size_t top) {
  if (summary.pending.empty()) return;
  page.heading(summary.live ? "RUNNING NOW" : "STILL RUNNING WHEN THE LOG ENDS");
  TextTable table{
      {{"call", true}, {"began at"}, {"ago"}, {"thread"}, {"gpu"}, {"correlation"}}, {}, 0};
  for (const analysis::PendingWork& work : summary.pending) {
    if (table.rows.size() >= top) break;
    table.rows.push_back({work.function, text::duration(static_cast<double>(work.time_ns)),
                          text::duration(static_cast<double>(summary.duration_ns - work.time_ns)),
                          std::to_string(work.thread),
                          work.device < 0 ? "?" : std::to_string(work.device),
                          std::to_string(work.correlation)});
  }
  page.table(table);
  write_more(page, summary.pending.size(), table.rows.size());
}

}  // namespace gpufl::report
