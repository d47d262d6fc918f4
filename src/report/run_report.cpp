// SPDX-License-Identifier: Apache-2.0
#include "report/run_report.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "analysis/run_kernels.hpp"
#include "report/markdown_page.hpp"
#include "report/text_page.hpp"
#include "report/text_sections.hpp"
#include "report/units.hpp"

namespace gpufl::report {
namespace {

using analysis::ActivityTotals;
using analysis::SessionSummary;
using Sessions = std::span<const SessionSummary* const>;

// What stands before the colon of a verdict.
std::string verdict_word(const SessionSummary& session) {
  const std::string text = ledger_verdict(session).text;
  return text.substr(0, text.find(':'));
}

void write_totals(Page& page, Sessions sessions) {
  ActivityTotals total;
  std::map<std::string, size_t> verdicts;
  size_t without_cuda = 0;
  for (const SessionSummary* entry : sessions) {
    const SessionSummary& session = *entry;
    total.add(session.activity);
    ++verdicts[verdict_word(session)];
    without_cuda += session.event_counts.count("cuda_never_used");
  }
  page.field("processes", format_count(sessions.size()));
  if (without_cuda > 0) {
    page.field("without CUDA",
               fmt::format("{}: nothing of a GPU was recorded", format_count(without_cuda)),
               Tone::Warning);
  }
  page.field("kernels", fmt::format("{} ({} of kernel time)", format_count(total.kernels),
                                    duration_text(total.kernel_ns)));
  page.field("copies", fmt::format("{} ({}, {})", format_count(total.copies),
                                   bytes_text(total.copy_bytes), duration_text(total.copy_ns)));
  page.field("waits",
             fmt::format("{} ({})", format_count(total.waits), duration_text(total.wait_ns)));
  std::string ledger;
  for (const auto& [word, count] : verdicts) {
    ledger += fmt::format("{}{}", ledger.empty() ? "" : ", ", word);
    if (sessions.size() > 1) ledger += fmt::format(" {}", format_count(count));
  }
  const bool is_good = verdicts.size() == 1 && verdicts.count("complete") == 1;
  page.field("ledger", ledger, is_good ? Tone::Good : Tone::Warning);
}

// What was not possible in any of them, once each.
void write_all_capabilities(Page& page, Sessions sessions) {
  std::vector<analysis::Capability> notes;
  for (const SessionSummary* entry : sessions) {
    const SessionSummary& session = *entry;
    for (const analysis::Capability& note : session.capabilities) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  write_capabilities(page, notes);
}

void write_processes(Page& page, Sessions sessions, size_t top) {
  TextTable table{{{"process", true},
                   {"pid"},
                   {"rank", false, 3},
                   {"time", false, 5},
                   {"kernels"},
                   {"kernel time"},
                   {"copied", false, 4},
                   {"waited", false, 2},
                   {"ledger", true, 1}}};
  for (const SessionSummary* entry : sessions.first(std::min(top, sessions.size()))) {
    const SessionSummary& session = *entry;
    const ActivityTotals& activity = session.activity;
    const auto& rank = session.header.rank;
    table.rows.push_back({session.header.process, std::to_string(session.header.pid),
                          rank ? std::to_string(*rank) : "-", duration_text(session.duration_ns),
                          format_count(activity.kernels), duration_text(activity.kernel_ns),
                          bytes_text(activity.copy_bytes), duration_text(activity.wait_ns),
                          verdict_word(session)});
  }
  page.heading("PROCESSES");
  page.table(table);
  write_more(page, sessions.size(), table.rows.size());
}

void write_head(Page& page, std::string_view id, Sessions sessions, size_t top) {
  page.heading("RUN", id);
  write_all_capabilities(page, sessions);
  write_totals(page, sessions);
  if (sessions.size() > 1) write_processes(page, sessions, top);
}

std::string rank_text(const analysis::RunOverview& run, size_t index) {
  const auto& rank = run.ranks[index].rank;
  return rank ? fmt::format("rank {}", *rank) : run.ranks[index].session_id;
}

// How busy the GPUs of each rank were; the slowest, where they differ.
void write_balance(Page& page, const analysis::RunOverview& run, size_t top) {
  TextTable table{{{"rank", true},
                   {"host", true, 3},
                   {"busy"},
                   {"share"},
                   {"waited", false, 1},
                   {"communication", false, 2},
                   {"iteration"}}};
  for (const analysis::RankFigures& rank : run.ranks) {
    if (table.rows.size() == top) break;
    if (!rank.overview.kernels) continue;
    int64_t recorded_ns = 0;
    for (const auto& device : rank.overview.devices) {
      if (device.busy_ns > 0) recorded_ns += device.recorded_ns;
    }
    table.rows.push_back(
        {rank.rank ? std::to_string(*rank.rank) : "-", rank.host, duration_text(rank.busy_ns),
         recorded_ns > 0
             ? format_percent(static_cast<double>(rank.busy_ns) / static_cast<double>(recorded_ns))
             : "-",
         duration_text(rank.wait_ns), duration_text(rank.communication_ns),
         rank.iteration_ns ? format_duration(*rank.iteration_ns) : "-"});
  }
  if (table.rows.empty()) return;
  page.heading("BALANCE");
  page.table(table);
  write_more(page, run.ranks.size(), table.rows.size());
  const auto imbalance = [&](std::string_view label,
                             const analysis::Figure<analysis::Imbalance>& figure) {
    if (!figure || figure->share <= 0) return;
    page.field(label, fmt::format("{} has most: {}, {} more than the mean ({} of its time)",
                                  rank_text(run, figure->slowest), format_duration(figure->max),
                                  format_duration(figure->max - figure->mean),
                                  format_percent(figure->share)));
  };
  imbalance("busy", run.busy);
  imbalance("compute", run.compute);
  imbalance("iteration", run.iteration);
}

void write_run_kernels(Page& page, const analysis::RunOverview& run, size_t top) {
  const std::vector<analysis::RunKernel> kernels = run_kernels(run);
  if (kernels.empty()) return;
  page.heading("KERNELS OF ALL RANKS");
  TextTable table{{{"kernel", true},
                   {"count"},
                   {"total"},
                   {"share"},
                   {"least of a rank", false, 2},
                   {"most of a rank", false, 1}}};
  for (const analysis::RunKernel& kernel : kernels) {
    if (table.rows.size() == top) break;
    table.rows.push_back({kernel.label, format_count(kernel.count), duration_text(kernel.total_ns),
                          format_percent(kernel.share), duration_text(kernel.min_rank_ns),
                          duration_text(kernel.max_rank_ns)});
  }
  page.table(table);
  write_more(page, kernels.size(), table.rows.size());
}

}  // namespace

void write_report(Page& page, const RunReport& report, const TextOptions& options) {
  const size_t top = rows_of(options);
  std::vector<const SessionSummary*> sessions;
  for (const analysis::SessionData& session : report.run.sessions) {
    sessions.push_back(&session.summary);
  }
  write_head(page, report.run.id, sessions, top);
  write_balance(page, report.overview, top);
  write_run_kernels(page, report.overview, top);
  write_insights(page, report.insights, top);
}

std::string run_report(const RunReport& report, const TextOptions& options) {
  TextPage page(width_of(options), options.has_color);
  write_report(page, report, options);
  return page.text();
}

std::string markdown_run_report(const RunReport& report, const TextOptions& options) {
  MarkdownPage page;
  write_report(page, report, options);
  return page.text();
}

std::string run_report(std::span<const SessionSummary> sessions, const TextOptions& options) {
  TextPage page(width_of(options), options.has_color);
  std::vector<const SessionSummary*> all;
  for (const SessionSummary& session : sessions) all.push_back(&session);
  write_head(page, sessions.empty() ? "" : sessions.front().header.run_id, all, rows_of(options));
  return page.text();
}

}  // namespace gpufl::report
