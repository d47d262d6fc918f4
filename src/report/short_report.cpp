// SPDX-License-Identifier: Apache-2.0
#include "report/short_report.hpp"

#include <algorithm>
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

void write_missing_work(Page& page, const SessionReport& report, size_t head_lines) {
  if (report.overview.kernels || is_without_work_by_choice(report.session.summary)) return;
  const analysis::Unknown& why = report.overview.kernels.unknown();
  if (is_told_in_title(report.session.summary, why, head_lines)) return;
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

// A line for each of what has no part of its own, and how to see the rest. `hidden`: parts for
// which there was no room.
void write_other_figures(Page& page, const SessionReport& report, const std::string& hidden) {
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
  write_deep_windows_briefly(page, summary);
  write_ledger_briefly(page, summary);
  if (!hidden.empty()) page.field("no room here for", hidden);
  // Of several passes the folder that holds all of them.
  const auto folder = report.session.passes ? summary.dir.parent_path() : summary.dir;
  page.command("all the rest", full_report_command(report.overview.options, folder));
}

// Shown where there is room for it. Of those that have none, the least needed go first.
struct Part {
  std::string_view name;
  size_t place;  // 1: the most needed
  std::function<void(Page&)> write;
};

size_t lines_of(const TextOptions& options, const std::function<void(Page&)>& write) {
  TextPage page(width_of(options), false);
  write(page);
  const std::string& text = page.text();
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::vector<Part> parts_of(const SessionReport& report, const TextOptions& options, size_t rows) {
  const auto at_most = [&](size_t most) { return options.has_top ? rows : std::min(rows, most); };
  const size_t stalls = at_most(kStallRows), waits = at_most(kWaitRows);
  const analysis::Overview& overview = report.overview;
  std::vector<Part> parts = {
      {"stalls", 3, [&, stalls](Page& page) { write_stalls(page, report, stalls, Detail::Brief); }},
      {"what happens in kernels", 6,
       [&, rows](Page& page) {
         MissingFigures missing;  // --full lists it
         write_warps(page, report, rows, missing, Detail::Brief);
       }},
      {"waits", 1,
       [&, waits](Page& page) {
         MissingFigures missing;
         write_waits(page, report, waits, missing, Detail::Brief);
       }},
      {"scopes", 2, [&, rows](Page& page) { write_scopes(page, report, rows, Detail::Brief); }}};
  if (report.session.passes) {
    parts.push_back(
        {"passes", 1, [&, rows](Page& page) { write_passes(page, report, rows, Detail::Brief); }});
  }
  if (overview.scopes.empty()) {
    parts.push_back({"markers", 5,
                     [&, rows](Page& page) { write_markers(page, report.session.summary, rows); }});
  }
  if (!overview.kernels) {
    parts.push_back(
        {"health", 4, [&, rows](Page& page) { write_health(page, overview.metrics, rows); }});
  }
  return parts;
}

void write_parts(Page& page, const SessionReport& report, const TextOptions& options,
                 const ShortSize& size) {
  const SessionSummary& summary = report.session.summary;
  MissingFigures missing;
  page.limit_paragraphs(size.paragraph_lines);
  write_title_briefly(page, summary, chosen_text(report.overview.options), size.head_lines);
  write_first_steps(page, report.insights, size.findings);
  write_missing_work(page, report, size.head_lines);
  write_pending(page, summary, std::min(size.rows, kPendingRows));
  write_gpu_time_briefly(page, report, size.rows);
  write_kernels(page, report, size.rows, options.sort, missing);
  std::string hidden;
  for (const Part& part : parts_of(report, options, size.rows)) {
    if (part.place <= size.parts) {
      part.write(page);
    } else if (lines_of(options, part.write) > 0) {
      hidden += fmt::format("{}{}", hidden.empty() ? "" : ", ", part.name);
    }
  }
  write_other_figures(page, report, hidden);
}

}  // namespace

size_t head_lines(const TextOptions& options, std::span<const analysis::Insight> insights,
                  const std::function<void(Page&)>& write_head) {
  const bool has_alarm =
      std::any_of(insights.begin(), insights.end(), [](const analysis::Insight& insight) {
        return insight.severity == analysis::Severity::High;
      });
  return has_alarm && lines_of(options, write_head) > 1 + kMaxHeadLines ? kMaxHeadLines : 0;
}

ShortSize size_that_fits(const TextOptions& options, size_t lines,
                         const std::function<void(Page&, const ShortSize&)>& write) {
  std::vector<ShortSize> sizes = {{5, 3}, {4, 3}, {3, 3}, {2, 3}, {2, 2}, {1, 1}};
  // Parts that few need go before sentences that are hard to understand once they are cut.
  struct Cut {
    size_t paragraph_lines, fewest_parts;
  };
  for (const Cut& cut : {Cut{2, 4}, Cut{1, 0}}) {
    for (size_t parts = ShortSize{}.parts + 1; parts-- > cut.fewest_parts;) {
      sizes.push_back({1, 1, cut.paragraph_lines, kMaxHeadLines, parts});
    }
  }
  const size_t most_rows = rows_of(options);
  if (options.has_top) return {most_rows, sizes.front().findings};
  for (ShortSize& size : sizes) {
    size.rows = std::min(size.rows, most_rows);
    if (lines_of(options, [&](Page& page) { write(page, size); }) <= lines) return size;
  }
  return sizes.back();
}

void write_short_report(Page& page, const SessionReport& report, const TextOptions& options) {
  const size_t head = head_lines(options, report.insights, [&](Page& target) {
    write_title_briefly(target, report.session.summary, chosen_text(report.overview.options));
  });
  const auto write = [&](Page& target, ShortSize size) {
    size.head_lines = std::max(size.head_lines, head);
    write_parts(target, report, options, size);
  };
  write(page, size_that_fits(options, kMaxShortLines - options.lines_below, write));
}

}  // namespace gpufl::report
