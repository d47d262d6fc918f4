// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/insights/sampled_kernels.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::SampledKernel;

// Threads of a warp that take part in an instruction, of 32: fewer where branches divide them.
void write_divergence(Page& page, const std::vector<SampledKernel>& kernels, size_t top) {
  constexpr double kWarpThreads = 32;
  TextTable table{{{"kernel", true}, {"instructions"}, {"threads active"}}};
  for (const SampledKernel& kernel : kernels) {
    const auto warps = kernel.counter("smsp__sass_inst_executed");
    const auto threads = kernel.counter("smsp__sass_thread_inst_executed");
    if (!warps || !threads || table.rows.size() == top) continue;
    table.rows.push_back({kernel.label, text::count(static_cast<uint64_t>(*warps)),
                          text::percent(*threads / (*warps * kWarpThreads))});
  }
  if (table.rows.empty()) return;
  page.heading("DIVERGENCE");
  page.table(table);
}

void write_kernel_counters(Page& page, const std::vector<SampledKernel>& kernels, size_t top) {
  TextTable table{{{"kernel", true}, {"counter", true}, {"sum"}}};
  size_t shown = 0;
  for (const SampledKernel& kernel : kernels) {
    if (kernel.counters.empty() || shown++ == top) continue;
    for (const auto& [name, value] : kernel.counters) {
      table.rows.push_back({kernel.label, name, text::signed_count(value)});
    }
  }
  if (table.rows.empty()) return;
  page.heading("COUNTERS OF KERNELS");
  page.table(table);
}

}  // namespace

void write_samples(Page& page, const SessionReport& report, size_t top) {
  const analysis::SessionView view(report.session, report.overview, {});
  const std::vector<SampledKernel> kernels = sampled_kernels(view);
  write_stalls(page, report, top / 2 + top % 2);  // a row of stalls says much
  write_divergence(page, kernels, top);
  write_kernel_counters(page, kernels, top);
}

}  // namespace gpufl::report
