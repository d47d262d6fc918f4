// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/insights/words.hpp"
#include "report/text_sections.hpp"
#include "report/units.hpp"

namespace gpufl::report {
namespace {

using analysis::Iteration;
using analysis::Stats;

TextTable stats_table(std::string title) {
  return {{{std::move(title), true},
           {"count", false, 3},
           {"median"},
           {"mean"},
           {"p90", false, 2},
           {"p99", false, 1},
           {"min", false, 4},
           {"max"}}};
}

std::vector<std::string> stats_row(std::string label, const Stats& stats) {
  return {std::move(label),
          format_count(stats.count),
          format_duration(stats.median),
          format_duration(stats.mean),
          duration_text(stats.p90),
          duration_text(stats.p99),
          duration_text(stats.min),
          duration_text(stats.max)};
}

}  // namespace

void write_iterations(Page& page, const SessionReport& report, MissingFigures& missing) {
  const auto& iterations = report.overview.iterations;
  if (!iterations) {
    missing.add("iterations", iterations.unknown());
    return;
  }
  if (iterations->list.empty()) return;
  const bool is_sequence = iterations->source == analysis::IterationSource::KernelSequence;
  page.heading("ITERATIONS",
               fmt::format("{}, {} of the time, {}{}", format_count(iterations->list.size()),
                           format_percent(iterations->coverage),
                           is_sequence ? "each begins with " : "", iterations->label));
  TextTable table = stats_table("of each");
  table.rows.push_back(stats_row("duration", iterations->duration_ns));
  table.rows.push_back(stats_row("kernel time", iterations->kernel_ns));
  page.table(table);
  const auto slowest = std::max_element(
      iterations->list.begin(), iterations->list.end(),
      [](const Iteration& a, const Iteration& b) { return a.span.length() < b.span.length(); });
  page.field("slowest",
             fmt::format("number {}, at {}: {}, {} of kernel time",
                         slowest - iterations->list.begin() + 1, duration_text(slowest->span.start),
                         analysis::words::plural(slowest->kernels, "kernel"),
                         duration_text(slowest->kernel_ns)));
}

void write_latency(Page& page, const SessionReport& report, size_t top, MissingFigures& missing) {
  const analysis::LaunchLatency& latency = report.overview.latency;
  TextTable table = stats_table("from");
  const auto add = [&](std::string label, std::string_view what,
                       const analysis::Figure<Stats>& figure) {
    if (!figure) {
      missing.add(what, figure.unknown());
    } else if (figure->count > 0) {
      table.rows.push_back(stats_row(std::move(label), *figure));
    }
  };
  add("begin of the call", "launch latency", latency.launch_ns);
  add("end of the call", "queue delay", latency.queue_ns);
  add("queued by the driver", "delay in the driver", latency.driver_ns);
  if (!table.rows.empty()) {
    page.heading("LAUNCH LATENCY", "until the kernel starts");
    page.table(table);
  }
  const auto& api = report.overview.api;
  if (!api) return;
  TextTable failed{{{"failed calls", true}, {"failed"}, {"of"}}};
  for (const analysis::ApiGroup& group : *api) {
    if (group.failed == 0 || failed.rows.size() == top) continue;
    failed.rows.push_back(
        {group.function, format_count(group.failed), format_count(group.duration_ns.count)});
  }
  if (failed.rows.empty()) return;
  page.heading("FAILED CALLS");
  page.table(failed);
}

}  // namespace gpufl::report
