// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/math/figure.hpp"
#include "analysis/math/ratio_estimate.hpp"
#include "analysis/math/stats.hpp"
#include "analysis/summary/summary.hpp"
#include "report/page.hpp"
#include "report/session_report.hpp"

// The parts of a report, each with its heading; a part with nothing to say writes nothing. Called
// by text_report.cpp, run_report.cpp and the inspections of the Python package.
namespace gpufl::report {

// How much a part says: all of it, or what a report on one screen has room for.
enum class Detail : uint8_t { Brief, Full };

struct Verdict {
  std::string text;  // "word: what it means"
  Tone tone;
};
// "no loss is known", or what is, of a ledger that is complete: samples that were missed.
std::string no_loss_text(const format::Ledger& ledger);
// What the ledger comes to.
Verdict ledger_verdict(const analysis::SessionSummary& summary);
// "12 phases, which cover 3.4% of the session"; empty: the session was not traced in phases.
std::string phases_text(const analysis::SessionSummary& summary);
// "~41.0% ±3.2%"
std::string estimate_text(const analysis::Estimate& estimate);
// "41,203 in 14 windows; 12 dropped by the hardware"; empty: nothing was sampled.
std::string samples_text(const format::Ledger& ledger);
// "12 begin before the one before ..."; of a ledger that counts such kernels.
std::string overlaps_text(const format::Ledger& ledger);

// What a session does not tell: each reason once, with all that it is the reason for.
class MissingFigures {
 public:
  void add(std::string_view what, const analysis::Unknown& unknown);
  void write(Page& page) const;

 private:
  std::vector<std::pair<analysis::Unknown, std::string>> reasons_;
};

// Columns of the page, and rows of a list, that the options stand for.
size_t width_of(const TextOptions& options);
size_t rows_of(const TextOptions& options);
// "scope forw*, GPU 0": what alone the report is of; empty: of everything.
std::string chosen_text(const analysis::AnalysisOptions& options);
// "gpufl report --full --scope 'forw*' DIR": the whole of a report that has these options.
std::string full_report_command(const analysis::AnalysisOptions& options,
                                const std::filesystem::path& dir);
// "... 12 more" where not all were shown.
void write_more(Page& page, size_t all, size_t shown);
// "python3 (pid 447)"; imported sessions may not know either.
std::string process_text(const format::SessionHeader& header);
std::string duration_text(int64_t duration_ns);
// ">= 12" in a table where not all of it is known, else "12".
std::string at_least_if(bool is_lower_bound, const std::string& text);
// Why figures of a table are only lower bounds, and what would avoid it; nothing where they are
// not.
void write_lower_bound(Page& page, const std::optional<analysis::Unknown>& lost);
// How long the session lasted; without an end, "at least 3.200 s", or "unknown" where nothing in
// its log has a time.
std::string lived_text(const analysis::SessionSummary& summary,
                       std::string_view at_least = "at least");
std::string bytes_text(int64_t bytes);
// Of copies of which some do not tell their size: "1.5 GiB", "1.5 GiB or more", "unknown".
std::string copied_text(int64_t bytes, uint64_t sized, uint64_t copies);
// "1.5 GiB in 12 copies, 3.4 ms, 10.0% of it while kernels ran"
std::string copies_text(const analysis::TransferGroup& copies);
// " (12.3%)"; empty where the whole is nothing.
std::string share_text(double part, double whole);

// What was asked for and could not be had. Nobody asked an imported trace for anything: of such a
// one only that it ends early.
std::vector<analysis::Capability> refused_capabilities(const analysis::SessionSummary& summary);
// No heading.
void write_capabilities(Page& page, std::span<const analysis::Capability> notes,
                        bool has_several_backends);
// Options that could not be used as they were given, a line for each.
std::vector<std::string> option_warnings(const analysis::SessionSummary& summary);
void write_option_warnings(Page& page, std::span<const std::string> lines);
// The first of both, in at most as many lines; 0: in as many as the first few take.
void write_notes_briefly(Page& page, std::span<const std::string> warnings,
                         std::span<const analysis::Capability> notes, bool has_several_backends,
                         size_t lines);
// Whether write_title_briefly() has said all of it: that what records GPU work was refused, and
// why.
bool is_told_in_title(const analysis::SessionSummary& summary, const analysis::Unknown& why,
                      size_t lines);
// What the tool that recorded an imported trace did not record.
void add_missing_of_import(const analysis::SessionSummary& summary, MissingFigures& missing);

// Of the log as a whole.
void write_title(Page& page, const analysis::SessionSummary& summary);
// `chosen`: see chosen_text(). `lines`: that it may have below its heading, at least 5; 0: any
// number.
void write_title_briefly(Page& page, const analysis::SessionSummary& summary,
                         const std::string& chosen = {}, size_t lines = 0);
void write_session(Page& page, const analysis::SessionSummary& summary);
void write_ledger(Page& page, const analysis::SessionSummary& summary);
void write_ledger_briefly(Page& page, const analysis::SessionSummary& summary);  // one field
// Fields of the ledger: how much of the session each engine was attached to, and at what cost.
void write_coverage(Page& page, const analysis::SessionSummary& summary);
void write_budget(Page& page, const analysis::SessionSummary& summary);  // one field
void write_deep_windows(Page& page, const analysis::SessionSummary& summary, size_t top);
void write_deep_windows_briefly(Page& page, const analysis::SessionSummary& summary);  // one field
void write_devices(Page& page, const analysis::SessionSummary& summary);
void write_activity(Page& page, const analysis::SessionSummary& summary);  // one field
void write_pending(Page& page, const analysis::SessionSummary& summary, size_t top);
void write_markers(Page& page, const analysis::SessionSummary& summary, size_t top);
void write_counters(Page& page, std::span<const analysis::CounterTotal* const> counters,
                    size_t top);
void write_metrics(Page& page, const analysis::SessionSummary& summary,
                   std::span<const analysis::MetricSeries* const> metrics);
// Of GPUs and host: a table with a row for each GPU, or one field.
void write_health(Page& page, std::span<const analysis::MetricFigures> metrics, size_t top);
void write_health_briefly(Page& page, std::span<const analysis::MetricFigures> metrics);
void write_events(Page& page, const analysis::SessionSummary& summary, size_t top);
void write_problems(Page& page, const analysis::SessionSummary& summary, size_t top);
void write_cost(Page& page, const analysis::SessionSummary& summary);

// Of what the options chose.
void write_headline(Page& page, std::span<const analysis::Insight> insights);
// The `top` most important findings, each with its advice.
void write_first_steps(Page& page, std::span<const analysis::Insight> insights, size_t top);
void write_gpu_time(Page& page, const SessionReport& report, MissingFigures& missing);
void write_gpu_time_briefly(Page& page, const SessionReport& report, size_t top);
void write_kernels(Page& page, const SessionReport& report, size_t top, KernelSort sort,
                   MissingFigures& missing);
void write_kernel_classes(Page& page, const SessionReport& report);
void write_framework(Page& page, const SessionReport& report, size_t top);  // operators, modules
void write_launches(Page& page, const SessionReport& report, size_t top, MissingFigures& missing);
void write_transfers(Page& page, const SessionReport& report, size_t top, MissingFigures& missing);
void write_waits(Page& page, const SessionReport& report, size_t top, MissingFigures& missing,
                 Detail detail = Detail::Full);
void write_scopes(Page& page, const SessionReport& report, size_t top,
                  Detail detail = Detail::Full);
void write_iterations(Page& page, const SessionReport& report, MissingFigures& missing);
void write_latency(Page& page, const SessionReport& report, size_t top, MissingFigures& missing);
void write_memory(Page& page, const SessionReport& report, MissingFigures& missing);
void write_communication(Page& page, const SessionReport& report);
void write_samples(Page& page, const SessionReport& report, size_t top);
// Of ranges, with their roofline, and over time.
void write_hardware_counters(Page& page, const SessionReport& report, size_t top);
// A part of the samples.
void write_stalls(Page& page, const SessionReport& report, size_t top,
                  Detail detail = Detail::Full);
void write_warps(Page& page, const SessionReport& report, size_t top, MissingFigures& missing,
                 Detail detail = Detail::Full);
void write_insights(Page& page, std::span<const analysis::Insight> insights, size_t top);
// Of a program that ran in several passes: what each gave, and where they differ.
void write_passes(Page& page, const SessionReport& report, size_t top,
                  Detail detail = Detail::Full);
// "times of pass 1, Trace; stalls of pass 2, PcSampling": what is shown of which.
std::string sources_text(const analysis::MergedPasses& passes);
void write_passes(Page& page, const analysis::RunData& run, size_t top,
                  Detail detail = Detail::Full);

// The kernels by what is asked for. `groups` outlive it.
std::vector<const analysis::KernelGroup*> sorted_kernels(
    const std::vector<analysis::KernelGroup>& groups, KernelSort sort);

}  // namespace gpufl::report
