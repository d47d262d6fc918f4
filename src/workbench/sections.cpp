// SPDX-License-Identifier: Apache-2.0
#include "workbench/sections.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/figures/missing.hpp"
#include "report/text_page.hpp"
#include "report/text_sections.hpp"

namespace gpufl::workbench {
namespace {

using analysis::SessionSummary;
using analysis::Unknown;
using report::MissingFigures;
using report::Page;
using report::SessionReport;
using report::TextOptions;

constexpr std::string_view kScopeRemedy =
    "mark phases of the program with gpufl.Scope(\"name\"), or GFL_SCOPE in C++";

void say_missing(Page& page, std::string_view what, const Unknown& unknown) {
  MissingFigures missing;
  missing.add(what, unknown);
  missing.write(page);
}

void write_summary(Page& page, const SessionReport& report, const TextOptions& options) {
  const SessionSummary& summary = report.session.summary;
  MissingFigures missing;
  report::write_title(page, summary);
  report::write_headline(page, report.insights);
  report::write_session(page, summary);
  report::write_devices(page, summary);
  report::write_ledger(page, summary);
  report::write_problems(page, summary, report::rows_of(options));
  report::write_gpu_time(page, report, missing);
  missing.write(page);
  constexpr size_t kMostImportant = 3;  // as many as the headline names
  report::write_insights(page, report.insights, kMostImportant);
}

void write_scopes(Page& page, const SessionReport& report, const TextOptions& options) {
  if (report.overview.scopes.empty()) {
    return say_missing(page, "scopes", {"the program opened no scopes", std::string(kScopeRemedy)});
  }
  report::write_scopes(page, report, report::rows_of(options));
}

void write_hotspots(Page& page, const SessionReport& report, const TextOptions& options) {
  MissingFigures missing;
  report::write_kernels(page, report, report::rows_of(options), options.sort, missing);
  report::write_kernel_classes(page, report);
  if (report.overview.kernels && report.overview.kernels->count == 0) {
    missing.add("kernels", {"the program launched no kernels while it was recorded", ""});
  }
  missing.write(page);
}

bool has_rows(const SessionReport& report, format::Kind kind) {
  const auto found = report.session.tables.others.find(kind);
  return found != report.session.tables.others.end() && !found->second.empty();
}

void write_stalls(Page& page, const SessionReport& report, const TextOptions& options) {
  if (!has_rows(report, format::Kind::PcSample)) {
    return say_missing(page, "stalls", analysis::missing_samples(report.session.sampled().summary));
  }
  report::write_stalls(page, report, report::rows_of(options));
}

void write_profile_samples(Page& page, const SessionReport& report, const TextOptions& options) {
  static constexpr std::string_view kEngines[] = {"PcSampling", "SassMetrics", "Deep"};
  if (!has_rows(report, format::Kind::PcSample) && !has_rows(report, format::Kind::SassMetric)) {
    return say_missing(page, "profile samples",
                       analysis::missing_rows(report.session.summary, "profile samples", kEngines));
  }
  report::write_samples(page, report, report::rows_of(options));
}

void write_perf_metrics(Page& page, const SessionReport& report, const TextOptions& options) {
  static constexpr std::string_view kEngines[] = {"RangeProfiler", "RangeProfilerKernelReplay",
                                                  "PmSampling"};
  const analysis::Overview& overview = report.overview;
  if (overview.ranges.empty() && overview.sampled_counters.empty()) {
    return say_missing(
        page, "hardware counters",
        analysis::missing_rows(report.session.summary, "hardware counters", kEngines));
  }
  report::write_hardware_counters(page, report, report::rows_of(options));
}

void write_syncs(Page& page, const SessionReport& report, const TextOptions& options) {
  MissingFigures missing;
  report::write_waits(page, report, report::rows_of(options), missing);
  if (report.overview.waits && report.overview.waits->empty()) {
    missing.add("synchronization", {"the host never waited for the GPU", ""});
  }
  missing.write(page);
}

void write_insights(Page& page, const SessionReport& report, const TextOptions& options) {
  if (!report.insights.empty()) {
    return report::write_insights(page, report.insights, report::rows_of(options));
  }
  if (!report.overview.kernels) {
    return say_missing(page, "insights of GPU work", report.overview.kernels.unknown());
  }
  page.heading("INSIGHTS", "none: nothing was found that is worth acting on");
}

struct Section {
  std::string_view name;
  void (*write)(Page&, const SessionReport&, const TextOptions&);
};

constexpr std::array kSections = {
    Section{"summary", write_summary},
    Section{"scopes", write_scopes},
    Section{"hotspots", write_hotspots},
    Section{"stalls", write_stalls},
    Section{"profile_samples", write_profile_samples},
    Section{"perf_metrics", write_perf_metrics},
    Section{"syncs", write_syncs},
    Section{"insights", write_insights},
};

}  // namespace

base::Result<std::string> write_section(const SessionReport& report, std::string_view name,
                                        const TextOptions& options) {
  std::string names;
  for (const Section& section : kSections) {
    if (section.name == name) {
      report::TextPage page(report::width_of(options), options.has_color);
      section.write(page, report, options);
      return page.text();
    }
    names += (names.empty() ? "" : ", ") + std::string(section.name);
  }
  return base::Status(base::Code::NotFound,
                      fmt::format("no section '{}'; there are {}", name, names));
}

}  // namespace gpufl::workbench
