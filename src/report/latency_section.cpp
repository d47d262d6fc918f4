// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/text_sections.hpp"
#include "text/units.hpp"

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
  return {std::move(label),           text::count(stats.count), text::duration(stats.median),
          text::duration(stats.mean), duration_text(stats.p90), duration_text(stats.p99),
          duration_text(stats.min),   duration_text(stats.max)};
}

void write_api_calls(Page& page, const analysis::Figure<std::vector<analysis::ApiGroup>>& calls,
                     size_t top, MissingFigures& missing) {
  if (!calls) {
    missing.add("API calls", calls.unknown());
    return;
  }
  TextTable table{{{"call", true},
                   {"count"},
                   {"timed"},
                   {"total"},
                   {"share"},
                   {"mean"},
                   {"median", false, 1},
                   {"p90", false, 3},
                   {"p99", false, 2},
                   {"min", false, 5},
                   {"max", false, 4},
                   {"failed"}}};
  const bool is_each_timed = std::all_of(
      calls->begin(), calls->end(),
      [](const analysis::ApiGroup& group) { return group.calls == group.duration_ns.count; });
  for (const analysis::ApiGroup& group : *calls) {
    // One that failed is shown, however short.
    if (table.rows.size() >= top && group.failed == 0) continue;
    const Stats& stats = group.duration_ns;
    const auto if_timed = [&](const std::string& text) { return stats.count == 0 ? "-" : text; };
    table.rows.push_back(
        {group.function, text::count(group.calls), is_each_timed ? "-" : text::count(stats.count),
         if_timed(duration_text(stats.total)), if_timed(text::percent(group.share)),
         if_timed(text::duration(stats.mean)), if_timed(text::duration(stats.median)),
         if_timed(duration_text(stats.p90)), if_timed(duration_text(stats.p99)),
         if_timed(duration_text(stats.min)), if_timed(duration_text(stats.max)),
         group.failed == 0 ? "-" : text::count(group.failed)});
  }
  if (table.rows.empty()) return;
  page.heading("API CALLS", "launches, copies, memsets, waits, allocations, and all that failed");
  table.drop_empty_columns();
  const size_t shown = table.rows.size();
  page.table(table);
  write_more(page, calls->size(), shown);
  if (!is_each_timed) {
    page.paragraph(2, "Times cover only the calls whose begin and end are known.");
  }
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
  page.heading(
      "ITERATIONS",
      fmt::format("{}{}, {} of the time, {}{}", iterations->is_lower_bound ? "at least " : "",
                  text::count(iterations->list.size()), text::percent(iterations->coverage),
                  is_sequence ? "each begins with " : "", iterations->label));
  TextTable table = stats_table("of each");
  table.rows.push_back(stats_row("duration", iterations->duration_ns));
  if (iterations->kernel_ns) {
    table.rows.push_back(stats_row("kernel time", *iterations->kernel_ns));
  }
  page.table(table);
  if (is_sequence) {
    page.paragraph(
        2,
        "No scope or range contains a step, so steps are cut where the GPU waits longest, from one "
        "such kernel to the next. Work before the first and after the last belongs to no step.");
  }
  const auto steady = iterations->list.begin() + static_cast<ptrdiff_t>(iterations->warmups);
  if (iterations->warmups > 0) {
    int64_t warmup_ns = 0;
    for (auto it = iterations->list.begin(); it != steady; ++it) warmup_ns += it->span.length();
    page.field("warm-up",
               fmt::format("the first {}, {} in total, {} not in these figures",
                           iterations->warmups == 1 ? "one" : text::count(iterations->warmups),
                           duration_text(warmup_ns), iterations->warmups == 1 ? "is" : "are"));
  }
  const auto end = iterations->list.end() - (iterations->list.back().is_cut ? 1 : 0);
  const auto slowest = std::max_element(steady, end, [](const Iteration& a, const Iteration& b) {
    return a.span.length() < b.span.length();
  });
  std::string work;
  if (iterations->kernel_ns) {
    work = fmt::format(": {}, {} of kernel time", text::plural(slowest->kernels, "kernel"),
                       duration_text(slowest->kernel_ns));
  }
  page.field("slowest", fmt::format("number {}, at {}{}", slowest - iterations->list.begin() + 1,
                                    duration_text(slowest->span.start), work));
  if (end != iterations->list.end()) {
    page.field("the last one", "its end is unknown: no duration includes it");
  }
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
    const auto is_of_all = [&](const analysis::Figure<Stats>& figure) {
      return !figure || figure->count == latency.kernels;
    };
    if (!is_of_all(latency.launch_ns) || !is_of_all(latency.queue_ns)) {
      page.paragraph(2, fmt::format("For {} that no graph launched, without those whose call has "
                                    "no known begin or end, or began after them.",
                                    text::plural(latency.kernels, "kernel")));
    }
  }
  write_api_calls(page, report.overview.api, top, missing);
}

}  // namespace gpufl::report
