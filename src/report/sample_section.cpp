// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/insights/sampled_kernels.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::SampledKernel;

constexpr size_t kShownStalls = 3;

// "long_scoreboard 40.0%, wait 12.0%": those with the most samples.
std::string stalls_text(const SampledKernel& kernel) {
  std::vector<std::pair<uint64_t, std::string_view>> stalls;
  for (const auto& [reason, count] : kernel.stalls) stalls.emplace_back(count.samples, reason);
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (size_t i = 0; i < std::min(kShownStalls, stalls.size()); ++i) {
    text += fmt::format(
        "{}{} {}", text.empty() ? "" : ", ", stalls[i].second,
        text::percent(static_cast<double>(stalls[i].first) / static_cast<double>(kernel.samples)));
  }
  return text;
}

void write_stalls(Page& page, const std::vector<SampledKernel>& kernels, size_t top) {
  TextTable table{{{"kernel", true}, {"samples"}, {"GPU time", false, 1}, {"stalled by", true}}};
  for (const SampledKernel& kernel : kernels) {
    if (kernel.samples == 0 || table.rows.size() == top) continue;
    table.rows.push_back({kernel.label, text::count(kernel.samples),
                          kernel.time_ns > 0 ? text::duration(kernel.time_ns) : "-",
                          stalls_text(kernel)});
  }
  if (table.rows.empty()) return;
  page.heading("STALLS");
  page.table(table);
}

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

void write_stalls(Page& page, const SessionReport& report, size_t top) {
  const analysis::SessionView view(report.session, report.overview, {});
  write_stalls(page, sampled_kernels(view), top);
}

void write_samples(Page& page, const SessionReport& report, size_t top) {
  const analysis::SessionView view(report.session, report.overview, {});
  const std::vector<SampledKernel> kernels = sampled_kernels(view);
  write_stalls(page, kernels, top);
  write_divergence(page, kernels, top);
  write_kernel_counters(page, kernels, top);
}

}  // namespace gpufl::report
