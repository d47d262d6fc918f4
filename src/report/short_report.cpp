// SPDX-License-Identifier: Apache-2.0
#include "report/short_report.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/figures/missing.hpp"
#include "report/text_page.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::SessionSummary;

constexpr size_t kStallRows = 3;
constexpr size_t kWaitRows = 3;
constexpr size_t kPendingRows = 2;
constexpr size_t kShownLines = 3;
constexpr size_t kShownCounters = 2;

// Whether the program was recorded without its GPU work because nothing else was asked for.
bool is_without_work_by_choice(const SessionSummary& summary) {
  return summary.header.engine == "Monitor" && refused_capabilities(summary).empty() &&
         !summary.has_faults;
}

void write_missing_work(Page& page, const SessionReport& report) {
  if (report.overview.kernels || is_without_work_by_choice(report.session.summary)) return;
  const analysis::Unknown& why = report.overview.kernels.unknown();
  if (is_told_in_title(report.session.summary, why)) return;
  page.heading("GPU TIME", "unknown", Tone::Warning);
  page.paragraph(2, why.reason + ".", Tone::Plain, 2);
  if (!why.remedy.empty()) page.paragraph(2, "-> " + why.remedy, Tone::Plain, 3);
}

void write_iterations_briefly(Page& page, const SessionReport& report) {
  const auto& iterations = report.overview.iterations;
  if (!iterations || iterations->list.empty()) return;
  const analysis::Stats& stats = iterations->duration_ns;
  const bool is_sequence = iterations->source == analysis::IterationSource::KernelSequence;
  page.field(
      "iterations",
      fmt::format("{}{} ({}{}), median {}, p99 {}", iterations->is_lower_bound ? "at least " : "",
                  text::count(iterations->list.size()), is_sequence ? "each begins with " : "",
                  iterations->label,
                  text::duration_beside(stats.median, static_cast<double>(stats.p99)),
                  text::duration_beside(static_cast<double>(stats.p99), stats.median)));
}

// Where the kernels that take most of the time are launched.
void write_lines_briefly(Page& page, const SessionReport& report) {
  const auto& kernels = report.overview.kernels;
  if (!kernels || !kernels->by_line || kernels->by_line->empty()) return;
  const std::vector<analysis::KernelGroup>& lines = *kernels->by_line;
  std::string text;
  for (size_t i = 0; i < std::min(kShownLines, lines.size()); ++i) {
    text +=
        fmt::format("{}{} {}", i == 0 ? "" : ", ", lines[i].label, text::percent(lines[i].share));
  }
  page.field("lines", fmt::format("{} of GPU time", text));
}

void write_copies_briefly(Page& page, const SessionReport& report) {
  const auto& copies = report.overview.transfers.copies;
  if (!copies || copies->all.duration_ns.count == 0) return;
  page.field("copies", copies_text(copies->all));
}

void write_counters_briefly(Page& page, const SessionReport& report) {
  const auto& counters = report.overview.counters;
  std::string text;
  for (size_t i = 0; i < std::min(kShownCounters, counters.size()); ++i) {
    const auto rate = counters[i].per_second();
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", counters[i].name,
                        text::signed_count(counters[i].last),
                        rate ? fmt::format(" ({})", text::rate(*rate)) : std::string());
  }
  if (counters.size() > kShownCounters) {
    text += fmt::format(", {} more", counters.size() - kShownCounters);
  }
  if (!text.empty()) page.field("counters", text);
}

// A line for each of what has no part of its own, and how to see the rest.
void write_other_figures(Page& page, const SessionReport& report) {
  const SessionSummary& summary = report.session.summary;
  page.heading("OTHER FIGURES");
  if (const auto& kernels = report.overview.kernels;
      !kernels && is_without_work_by_choice(summary) && analysis::imported_from(summary).empty()) {
    page.field("GPU work",
               fmt::format("{}; {}", kernels.unknown().reason, kernels.unknown().remedy));
  }
  write_iterations_briefly(page, report);
  write_lines_briefly(page, report);
  write_copies_briefly(page, report);
  if (report.overview.kernels) write_health_briefly(page, report.overview.metrics);
  write_counters_briefly(page, report);
  write_budget(page, summary);
  write_ledger_briefly(page, summary);
  page.command("all the rest", full_report_command(report.overview.options, summary.dir));
}

void write_parts(Page& page, const SessionReport& report, const TextOptions& options,
                 const ShortSize& size) {
  const size_t rows = size.rows;
  const auto at_most = [&](size_t most) { return options.has_top ? rows : std::min(rows, most); };
  const SessionSummary& summary = report.session.summary;
  const analysis::Overview& overview = report.overview;
  MissingFigures missing;  // --full lists it
  write_title_briefly(page, summary);
  if (const std::string chosen = chosen_text(overview.options); !chosen.empty()) {
    page.paragraph(2, "only: " + chosen, Tone::Strong, 2);
  }
  write_first_steps(page, report.insights, size.findings);
  write_missing_work(page, report);
  write_pending(page, summary, kPendingRows);
  write_gpu_time_briefly(page, report, rows);
  write_kernels(page, report, rows, options.sort, missing);
  write_stalls(page, report, at_most(kStallRows), Detail::Brief);
  write_warps(page, report, rows, missing, Detail::Brief);
  write_waits(page, report, at_most(kWaitRows), missing, Detail::Brief);
  write_scopes(page, report, rows, Detail::Brief);
  if (overview.scopes.empty()) write_markers(page, summary, rows);
  if (!overview.kernels) write_health(page, overview.metrics, rows);
  write_other_figures(page, report);
}

}  // namespace

ShortSize size_that_fits(const TextOptions& options, size_t lines,
                         const std::function<void(Page&, const ShortSize&)>& write) {
  constexpr std::array kSizes = {ShortSize{5, 3}, ShortSize{4, 3}, ShortSize{3, 3},
                                 ShortSize{2, 3}, ShortSize{2, 2}, ShortSize{1, 1}};
  const size_t most_rows = rows_of(options);
  if (options.has_top) return {most_rows, kSizes.front().findings};
  for (const ShortSize& size : kSizes) {
    const ShortSize allowed{std::min(size.rows, most_rows), size.findings};
    TextPage page(width_of(options), false);
    write(page, allowed);
    const std::string& text = page.text();
    if (static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) <= lines) return allowed;
  }
  return kSizes.back();
}

void write_short_report(Page& page, const SessionReport& report, const TextOptions& options) {
  const auto write = [&](Page& target, const ShortSize& size) {
    write_parts(target, report, options, size);
  };
  write(page, size_that_fits(options, kMaxShortLines, write));
}

}  // namespace gpufl::report
