// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using Groups = std::vector<analysis::KernelGroup>;

void write_groups(Page& page, const char* heading, const char* what,
                  const analysis::Figure<Groups>& groups, size_t top) {
  // A table of nothing but "(no module)" says nothing.
  if (!groups || groups->empty() || (groups->size() == 1 && groups->front().is_rest)) return;
  page.heading(heading);
  TextTable table{{{what, true}, {"count"}, {"total"}, {"share"}, {"mean"}, {"p99", false, 1}}};
  for (const analysis::KernelGroup& group : *groups) {
    if (table.rows.size() == top) break;
    const analysis::Stats& stats = group.duration_ns;
    table.rows.push_back({group.label, text::count(stats.count), duration_text(stats.total),
                          text::percent(group.share), text::duration(stats.mean),
                          duration_text(stats.p99)});
  }
  page.table(table);
  write_more(page, groups->size(), table.rows.size());
}

}  // namespace

void write_framework(Page& page, const SessionReport& report, size_t top) {
  const auto& kernels = report.overview.kernels;
  if (!kernels) return;
  write_groups(page, "KERNELS BY OPERATOR", "operator", kernels->by_op, top);
  write_groups(page, "KERNELS BY MODULE", "module", kernels->by_module, top);
}

}  // namespace gpufl::report
