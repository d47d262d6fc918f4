// SPDX-License-Identifier: Apache-2.0
#include "report/run_report.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "analysis/code/kernel_name.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/insights/run_insights.hpp"
#include "analysis/overview/run_work.hpp"
#include "format/capability_words.hpp"
#include "format/event_names.hpp"
#include "report/markdown_page.hpp"
#include "report/short_report.hpp"
#include "report/text_page.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::ActivityTotals;
using analysis::SessionSummary;

struct Process {
  const SessionSummary& summary;
  ActivityTotals activity;
};
using Processes = std::span<const Process>;

// What the overview has of a process: of the GPU and scopes asked for alone.
ActivityTotals activity_of(const analysis::Overview& overview) {
  ActivityTotals totals;
  if (overview.kernels) {
    totals.kernels = overview.kernels->count;
    totals.kernel_ns = overview.kernels->total_ns;
  }
  if (overview.transfers.copies) {
    const analysis::TransferGroup& copies = overview.transfers.copies->all;
    totals.copies = copies.duration_ns.count;
    totals.copy_ns = copies.duration_ns.total;
    totals.copy_bytes = copies.bytes.total;
    totals.unsized_copies = copies.duration_ns.count - copies.bytes.count;
  }
  if (overview.waits) {
    for (const analysis::WaitGroup& group : *overview.waits) {
      totals.waits += group.blocked_ns.count;
      totals.wait_ns += group.blocked_ns.total;
    }
  }
  return totals;
}

std::string bytes_of_copies(const ActivityTotals& activity) {
  return copied_text(activity.copy_bytes, activity.copies - activity.unsized_copies,
                     activity.copies);
}

// What stands before the colon of a verdict.
std::string verdict_word(const SessionSummary& session) {
  const std::string text = ledger_verdict(session).text;
  return text.substr(0, text.find(':'));
}

// Why a process has no GPU work; what it asked for in vain is told in full above.
std::string missing_work_text(const SessionSummary& session) {
  const analysis::Unknown why = analysis::missing_gpu_work(session);
  for (const analysis::Capability& note : session.capabilities) {
    if (note.is_as_asked() || note.detail.empty() || !why.reason.ends_with(note.detail)) continue;
    return fmt::format("{} ({})", format::outcome_words(note), note.reason);
  }
  return why.reason;
}

// Why there may be more GPU work of a process than its log has; empty: it has all of it.
std::string missing_part(const SessionSummary& session) {
  return session.live ? "still being recorded" : analysis::lost_gpu_work(session);
}

// A figure of which only a lower bound is known, and where that is 0, nothing.
std::string bound_text(std::string_view at_least, uint64_t count, const std::string& text) {
  return count == 0 ? "unknown" : fmt::format("{} {}", at_least, text);
}

// What nobody recorded is no zero: which processes that is so of, and why.
void write_reasons(Page& page, std::string_view label, Processes sessions,
                   const std::map<std::string, size_t>& reasons, size_t top) {
  size_t shown = 0;
  for (const auto& [reason, count] : reasons) {
    if (shown == top) break;
    ++shown;
    page.field(label,
               sessions.size() == 1 ? reason
                                    : fmt::format("in {} of {} processes: {}", text::count(count),
                                                  text::count(sessions.size()), reason),
               Tone::Warning);
  }
  write_more(page, reasons.size(), shown);
}

// Kernels that had not ended when a log does, of each process the one that was launched first: the
// others may only wait for it.
void write_running_kernels(Page& page, Processes sessions, size_t top) {
  size_t all = 0;
  for (const auto& [session, activity] : sessions) {
    const auto running = std::find_if(session.pending.begin(), session.pending.end(),
                                      [](const auto& work) { return !work.kernel.empty(); });
    if (running == session.pending.end() || ++all > top) continue;
    const std::string device =
        running->device < 0 ? "" : fmt::format(" on GPU {}", running->device);
    page.field("still running",
               fmt::format("kernel {}{} of {}, launched {} before {}",
                           analysis::short_kernel_name(running->kernel), device,
                           process_text(session.header),
                           duration_text(session.duration_ns - running->time_ns),
                           session.live ? "now" : "its log ends"),
               Tone::Warning);
  }
  write_more(page, all, std::min(all, top));
}

void write_totals(Page& page, Processes sessions, size_t left_out, size_t top) {
  ActivityTotals total;
  std::map<std::string, size_t> verdicts, untold, partly;
  size_t absent = 0, untraced = 0, told = 0;
  for (const auto& [session, activity] : sessions) {
    total.add(activity);
    ++verdicts[verdict_word(session)];
    absent += session.event_counts.count(format::kNoSessionLeft);
    untraced += session.ledger && session.ledger->tracings_refused.value_or(0) > 0 ? 1 : 0;
    if (!analysis::records_gpu_work(session)) {
      ++untold[missing_work_text(session)];
      continue;
    }
    ++told;
    if (std::string why = missing_part(session); !why.empty()) ++partly[std::move(why)];
  }
  page.field("processes", text::count(sessions.size()));
  write_running_kernels(page, sessions, top);
  if (absent > 0) {
    page.field("no session left", fmt::format("{}: nothing was recorded", text::count(absent)),
               Tone::Warning);
  }
  if (untraced > 0) {
    page.field("not traced",
               fmt::format("{}: what the GPU did is not known", text::count(untraced)),
               Tone::Warning);
  }
  write_reasons(page, "GPU work not recorded", sessions, untold, top);
  write_reasons(page, "GPU work may be more", sessions, partly, top);
  if (told > 0) {
    const auto field = [&](std::string_view label, uint64_t count, const std::string& text) {
      const bool is_all = untold.empty() && partly.empty();
      page.field(label, is_all ? text : bound_text("at least", count, text));
    };
    field("kernels", total.kernels,
          fmt::format("{} ({} of kernel time)", text::count(total.kernels),
                      duration_text(total.kernel_ns)));
    if (total.copies > 0) {
      field("copies", total.copies,
            fmt::format("{} ({}, {})", text::count(total.copies), bytes_of_copies(total),
                        duration_text(total.copy_ns)));
    }
    field("waits", total.waits,
          fmt::format("{} ({})", text::count(total.waits), duration_text(total.wait_ns)));
  }
  std::string ledger;
  for (const auto& [word, count] : verdicts) {
    ledger += fmt::format("{}{}", ledger.empty() ? "" : ", ", word);
    if (sessions.size() > 1) ledger += fmt::format(" {}", text::count(count));
  }
  const bool is_good = verdicts.size() == 1 && verdicts.count("complete") == 1;
  page.field("ledger", ledger, is_good ? Tone::Good : Tone::Warning);
  if (left_out > 0) {
    page.field("left out",
               text::plural(left_out, "session") + " without the requested GPU or scopes");
  }
}

// What was not possible in any of them, or not as it was asked for, once each.
struct RunNotes {
  std::vector<analysis::Capability> notes;
  std::vector<std::string> warnings;
  bool has_several_backends = false;
};

RunNotes notes_of(Processes sessions) {
  RunNotes all;
  const auto add_new = [](const auto& found, auto& known) {
    for (const auto& one : found) {
      if (std::find(known.begin(), known.end(), one) == known.end()) known.push_back(one);
    }
  };
  for (const auto& [session, activity] : sessions) {
    all.has_several_backends |= session.header.backends.size() > 1;
    add_new(refused_capabilities(session), all.notes);
    add_new(option_warnings(session), all.warnings);
  }
  return all;
}

void write_processes(Page& page, Processes sessions, size_t top) {
  if (sessions.size() < 2) return;
  TextTable table{{{"process", true},
                   {"pid"},
                   {"rank", false, 3},
                   {"time", false, 5},
                   {"kernels"},
                   {"kernel time"},
                   {"copied", false, 4},
                   {"waited", false, 2},
                   {"ledger", true, 1}}};
  for (const auto& [session, activity] : sessions.first(std::min(top, sessions.size()))) {
    const auto& rank = session.header.rank;
    const std::string& process = session.header.process;
    const bool is_told = analysis::records_gpu_work(session);
    const bool is_all = is_told && missing_part(session).empty();
    const auto known = [&](uint64_t count, const std::string& text) {
      return is_all ? text : bound_text(">=", is_told ? count : 0, text);
    };
    table.rows.push_back(
        {process.empty() ? "unknown" : process,
         session.header.pid > 0 ? std::to_string(session.header.pid) : "-",
         rank ? std::to_string(*rank) : "-", lived_text(session, ">="),
         known(activity.kernels, text::count(activity.kernels)),
         known(activity.kernels, duration_text(activity.kernel_ns)),
         is_all && activity.copies == 0 ? "-" : known(activity.copies, bytes_of_copies(activity)),
         known(activity.waits, duration_text(activity.wait_ns)), verdict_word(session)});
  }
  table.drop_empty_columns();
  page.heading("PROCESSES");
  page.table(table);
  write_more(page, sessions.size(), table.rows.size());
}

void write_head(Page& page, std::string_view id, Processes sessions, size_t left_out, size_t top) {
  page.heading("RUN", id);
  const RunNotes all = notes_of(sessions);
  write_option_warnings(page, all.warnings);
  write_capabilities(page, all.notes, all.has_several_backends);
  write_totals(page, sessions, left_out, top);
  write_processes(page, sessions, top);
}

std::vector<Process> processes_of(const RunReport& report) {
  std::vector<Process> processes;
  for (size_t i = 0; i < report.run.sessions.size(); ++i) {
    processes.push_back(
        {report.run.sessions[i].summary, activity_of(report.overview.ranks[i].overview)});
  }
  return processes;
}

std::string rank_text(const analysis::RunOverview& run, size_t index) {
  const auto& rank = run.ranks[index].rank;
  return rank ? fmt::format("rank {}", *rank) : run.ranks[index].session_id;
}

// How busy the GPUs of each rank were; the slowest, where they differ.
void write_balance(Page& page, const analysis::RunOverview& run, size_t top) {
  const bool is_any_told =
      std::any_of(run.ranks.begin(), run.ranks.end(),
                  [](const analysis::RankFigures& rank) { return rank.busy_ns.is_known(); });
  if (!is_any_told) return;
  TextTable table{{{"rank", true},
                   {"host", true, 3},
                   {"busy"},
                   {"share"},
                   {"waited", false, 1},
                   {"communication", false, 2},
                   {"iteration"}}};
  for (const analysis::RankFigures& rank : run.ranks) {
    if (table.rows.size() == top) break;
    int64_t recorded_ns = 0;
    for (const auto& device : rank.overview.devices) {
      if (device.busy_ns > 0) recorded_ns += device.recorded_ns;
    }
    const auto known = [](const analysis::Figure<int64_t>& figure) {
      return figure && *figure > 0 ? duration_text(*figure) : std::string("-");
    };
    table.rows.push_back(
        {rank.rank ? std::to_string(*rank.rank) : "-", rank.host,
         rank.busy_ns ? duration_text(*rank.busy_ns) : "unknown",
         rank.busy_ns && recorded_ns > 0
             ? text::percent(static_cast<double>(*rank.busy_ns) / static_cast<double>(recorded_ns))
             : "-",
         known(rank.wait_ns), known(rank.communication_ns),
         rank.iteration_ns ? text::duration(*rank.iteration_ns) : "-"});
  }
  table.drop_empty_columns();
  page.heading("BALANCE");
  page.table(table);
  write_more(page, run.ranks.size(), table.rows.size());
  const auto imbalance = [&](std::string_view label,
                             const analysis::Figure<analysis::Imbalance>& figure) {
    constexpr double kWorthNaming = 0.001;
    if (!figure || figure->share < kWorthNaming) return;
    page.field(label, fmt::format("{} has the most: {}, {} more than the mean ({} of it)",
                                  rank_text(run, figure->slowest), text::duration(figure->max),
                                  text::duration(figure->max - figure->mean),
                                  text::percent(figure->share)));
  };
  imbalance("busy", run.busy);
  imbalance("compute", run.compute);
  imbalance("iteration", run.iteration);
}

// A table with a row for each group: its label, what `cells` makes of it, and how ranks differ.
template <typename Group, typename Cells>
void write_groups(Page& page, std::string_view title, std::vector<TextColumn> columns,
                  const std::vector<Group>& groups, size_t top, Cells cells) {
  if (groups.empty()) return;
  page.heading(title);
  columns.push_back({"least of a rank", false, 2});
  columns.push_back({"most of a rank", false, 1});
  TextTable table{std::move(columns)};
  for (const Group& group : groups) {
    if (table.rows.size() == top) break;
    std::vector<std::string> row = cells(group);
    row.insert(row.begin(), group.label);
    row.push_back(duration_text(group.min_rank_ns));
    row.push_back(duration_text(group.max_rank_ns));
    table.rows.push_back(std::move(row));
  }
  table.drop_empty_columns();
  page.table(table);
  write_more(page, groups.size(), table.rows.size());
}

void write_run_kernels(Page& page, const analysis::RunOverview& run, size_t top) {
  write_groups(page, "KERNELS OF ALL RANKS", {{"kernel", true}, {"count"}, {"total"}, {"share"}},
               run_kernels(run), top, [](const analysis::RunKernel& kernel) {
                 return std::vector{text::count(kernel.count), duration_text(kernel.total_ns),
                                    text::percent(kernel.share)};
               });
}

void write_run_scopes(Page& page, const analysis::RunOverview& run, size_t top) {
  write_groups(page, "SCOPES OF ALL RANKS",
               {{"scope", true}, {"count"}, {"total"}, {"mean", false, 3}, {"GPU time"}},
               run_scopes(run), top, [](const analysis::RunScope& scope) {
                 const double mean_ns = scope.count == 0 ? 0
                                                         : static_cast<double>(scope.total_ns) /
                                                               static_cast<double>(scope.count);
                 const bool is_bound = scope.is_lower_bound;
                 return std::vector{at_least_if(is_bound, text::count(scope.count)),
                                    at_least_if(is_bound, duration_text(scope.total_ns)),
                                    scope.count == 0 ? "-" : text::duration(mean_ns),
                                    scope.gpu_ns > 0 ? duration_text(scope.gpu_ns) : "-"};
               });
}

void write_run_copies(Page& page, const analysis::RunOverview& run, size_t top) {
  write_groups(page, "COPIES OF ALL RANKS", {{"direction", true}, {"count"}, {"bytes"}, {"time"}},
               run_copies(run), top, [](const analysis::RunCopies& copies) {
                 return std::vector{text::count(copies.count),
                                    copied_text(copies.bytes, copies.sized, copies.count),
                                    duration_text(copies.total_ns)};
               });
}

void write_run_waits(Page& page, const analysis::RunOverview& run, size_t top) {
  write_groups(page, "WAITS OF ALL RANKS", {{"call", true}, {"count"}, {"blocked"}}, run_waits(run),
               top, [](const analysis::RunGroup& waits) {
                 return std::vector{text::count(waits.count), duration_text(waits.total_ns)};
               });
}

// On one screen: see short_report.hpp.
void write_short_report(Page& page, const RunReport& report, const TextOptions& options) {
  const std::vector<Process> processes = processes_of(report);
  const auto insights =
      merge_insights(report.run, report.overview, report.insights, report.of_sessions);
  const RunNotes notes = notes_of(processes);
  const auto write_top = [&](Page& target, size_t lines) {
    target.heading("RUN", report.run.id);
    write_notes_briefly(target, notes.warnings, notes.notes, notes.has_several_backends, lines);
  };
  const size_t head = head_lines(options, insights, [&](Page& target) { write_top(target, 0); });
  const auto write = [&](Page& target, const ShortSize& size) {
    target.limit_paragraphs(size.paragraph_lines);
    write_top(target, std::max(size.head_lines, head));
    write_first_steps(target, insights, size.findings);
    target.heading("TOTALS");
    write_totals(target, processes, report.left_out, size.rows);
    // The least needed go first.
    if (size.parts >= 3) write_processes(target, processes, size.rows);
    if (size.parts >= 1) write_passes(target, report.run, size.rows, Detail::Brief);
    if (size.parts >= 4) write_balance(target, report.overview, size.rows);
    if (size.parts >= 2) write_run_kernels(target, report.overview, size.rows);
    if (size.parts >= 5) write_run_scopes(target, report.overview, size.rows);
    if (size.parts >= 6) write_run_waits(target, report.overview, size.rows);
    if (report.run.sessions.empty()) return;
    target.heading("MORE");
    const auto folder = report.run.sessions.front().summary.dir.parent_path();
    target.command("all the rest",
                   full_report_command(report.overview.ranks.front().overview.options, folder));
  };
  write(page, size_that_fits(options, kMaxShortLines - options.lines_below, write));
}

}  // namespace

void write_report(Page& page, const RunReport& report, const TextOptions& options) {
  const size_t top = rows_of(options);
  write_head(page, report.run.id, processes_of(report), report.left_out, top);
  write_passes(page, report.run, top);
  write_balance(page, report.overview, top);
  write_run_kernels(page, report.overview, top);
  write_run_scopes(page, report.overview, top);
  write_run_copies(page, report.overview, top);
  write_run_waits(page, report.overview, top);
  write_insights(
      page, merge_insights(report.run, report.overview, report.insights, report.of_sessions), top);
}

std::string run_report(const RunReport& report, const TextOptions& options) {
  TextPage page(width_of(options), options.has_color);
  options.is_full ? write_report(page, report, options) : write_short_report(page, report, options);
  return page.text();
}

std::string markdown_run_report(const RunReport& report, const TextOptions& options) {
  MarkdownPage page;
  options.is_full ? write_report(page, report, options) : write_short_report(page, report, options);
  return page.text();
}

std::string run_report(std::span<const SessionSummary> sessions, const TextOptions& options) {
  TextPage page(width_of(options), options.has_color);
  std::vector<Process> all;
  for (const SessionSummary& session : sessions) all.push_back({session, session.activity});
  write_head(page, sessions.empty() ? "" : sessions.front().header.run_id, all, 0,
             rows_of(options));
  return page.text();
}

}  // namespace gpufl::report
