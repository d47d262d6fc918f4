// SPDX-License-Identifier: Apache-2.0
#include "report/run_report.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "report/text_page.hpp"
#include "report/text_sections.hpp"
#include "report/units.hpp"

namespace gpufl::report {
namespace {

using analysis::ActivityTotals;
using analysis::SessionSummary;

// What stands before the colon of a verdict.
std::string verdict_word(const SessionSummary& session) {
  const std::string text = ledger_verdict(session).text;
  return text.substr(0, text.find(':'));
}

std::string duration_text(int64_t duration_ns) {
  return format_duration(static_cast<double>(duration_ns));
}

std::string bytes_text(int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

void write_totals(TextPage& page, std::span<const SessionSummary> sessions) {
  ActivityTotals total;
  std::map<std::string, size_t> verdicts;
  size_t without_cuda = 0;
  for (const SessionSummary& session : sessions) {
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
void write_all_capabilities(TextPage& page, std::span<const SessionSummary> sessions) {
  std::vector<analysis::Capability> notes;
  for (const SessionSummary& session : sessions) {
    for (const analysis::Capability& note : session.capabilities) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  write_capabilities(page, notes);
}

void write_processes(TextPage& page, std::span<const SessionSummary> sessions, size_t top) {
  TextTable table{{{"process", true},
                   {"pid"},
                   {"rank", false, 3},
                   {"time", false, 5},
                   {"kernels"},
                   {"kernel time"},
                   {"copied", false, 4},
                   {"waited", false, 2},
                   {"ledger", true, 1}}};
  for (const SessionSummary& session : sessions.first(std::min(top, sessions.size()))) {
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
  if (sessions.size() > top) {
    page.paragraph(2, fmt::format("... {} more", format_count(sessions.size() - top)));
  }
}

}  // namespace

std::string run_report(std::span<const SessionSummary> sessions, const TextOptions& options) {
  constexpr size_t kMinWidth = 60;
  const size_t top = options.top == 0 ? std::numeric_limits<size_t>::max() : options.top;
  TextPage page(std::max(options.width, kMinWidth), options.has_color);
  page.heading("RUN", sessions.empty() ? "" : sessions.front().header.run_id);
  write_all_capabilities(page, sessions);
  write_totals(page, sessions);
  if (sessions.size() > 1) write_processes(page, sessions, top);
  return page.text();
}

}  // namespace gpufl::report
