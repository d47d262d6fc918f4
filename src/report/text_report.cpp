// SPDX-License-Identifier: Apache-2.0
#include "report/text_report.hpp"

#include <vector>

#include "analysis/figures/missing.hpp"
#include "report/markdown_page.hpp"
#include "report/short_report.hpp"
#include "report/text_page.hpp"
#include "report/text_sections.hpp"

namespace gpufl::report {
namespace {

// Figures as what they are figures of.
template <typename Base, typename Figures>
std::vector<const Base*> pointers(const std::vector<Figures>& figures) {
  std::vector<const Base*> all;
  for (const Figures& entry : figures) all.push_back(&entry);
  return all;
}

}  // namespace

void write_report(Page& page, const SessionReport& report, const TextOptions& options) {
  const size_t top = rows_of(options);
  const analysis::SessionSummary& summary = report.session.summary;
  MissingFigures missing;
  write_title(page, summary);
  if (const std::string chosen = chosen_text(report.overview.options); !chosen.empty()) {
    page.paragraph(2, "only: " + chosen, Tone::Strong, 2);
  }
  write_headline(page, report.insights);
  write_session(page, summary);
  write_devices(page, summary);
  write_passes(page, report, top);
  write_ledger(page, summary);
  write_deep_windows(page, summary, top);
  write_problems(page, summary, top);
  write_pending(page, summary, top);
  write_gpu_time(page, report, missing);
  write_kernels(page, report, top, options.sort, missing);
  write_kernel_classes(page, report);
  write_framework(page, report, top);
  write_transfers(page, report, top, missing);
  write_waits(page, report, top, missing);
  write_launches(page, report, top, missing);
  write_scopes(page, report, top);
  write_iterations(page, report, missing);
  write_latency(page, report, top, missing);
  write_memory(page, report, missing);
  write_communication(page, report);
  write_markers(page, summary, top);
  add_missing_of_import(summary, missing);
  if (const auto markers = analysis::records_markers(summary); !markers) {
    missing.add("markers", markers.unknown());
  }
  write_metrics(page, summary, pointers<analysis::MetricSeries>(report.overview.metrics));
  if (summary.metrics.empty()) {
    missing.add("metrics of GPUs and host", analysis::missing_metrics(summary));
  }
  write_counters(page, pointers<analysis::CounterTotal>(report.overview.counters), top);
  write_warps(page, report, top, missing);
  write_samples(page, report, top);
  write_hardware_counters(page, report, top);
  if (!report.overview.stalls && analysis::wants_samples(report.session.sampled().summary)) {
    missing.add("stalls", report.overview.stalls.unknown());
  }
  write_events(page, summary, top);
  missing.write(page);
  write_insights(page, report.insights, top);
  write_cost(page, summary);
}

std::string text_report(const SessionReport& report, const TextOptions& options) {
  TextPage page(width_of(options), options.has_color);
  options.is_full ? write_report(page, report, options) : write_short_report(page, report, options);
  return page.text();
}

std::string markdown_report(const SessionReport& report, const TextOptions& options) {
  MarkdownPage page;
  options.is_full ? write_report(page, report, options) : write_short_report(page, report, options);
  return page.text();
}

std::string brief_report(const analysis::SessionSummary& summary, std::string_view why,
                         const TextOptions& options) {
  constexpr size_t kRows = 5;
  TextPage page(width_of(options), options.has_color);
  write_title_briefly(page, summary);
  page.paragraph(2, why, Tone::Warning, 2);
  write_pending(page, summary, kRows);
  write_markers(page, summary, kRows);
  write_counters(page, pointers<analysis::CounterTotal>(summary.counters), kRows);
  page.heading("GPU ACTIVITY");
  write_activity(page, summary);
  write_ledger_briefly(page, summary);
  return page.text();
}

}  // namespace gpufl::report
