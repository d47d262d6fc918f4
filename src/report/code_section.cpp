// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "analysis/insights/loop_syncs.hpp"
#include "analysis/session/selection.hpp"
#include "analysis/tables/wait_calls.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {

namespace {

using analysis::CodeSite;
using analysis::KernelGroup;
using analysis::SyncLine;
using analysis::WaitGroup;

constexpr size_t kShownSources = 3;
// Shares of the recorded time.
constexpr double kWorthShowing = 0.001;
constexpr double kDominant = 0.2;

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string() : std::string(text.substr(begin));
}

// The code of the first places, each once.
void write_sources(Page& page, const std::vector<const CodeSite*>& sites) {
  std::set<std::string> shown;
  for (const CodeSite* site : sites) {
    if (shown.size() == kShownSources) break;
    if (site->source.empty() || !shown.insert(site->text).second) continue;
    page.paragraph(2, fmt::format("{}:{}: {}{}", site->file, site->line, trimmed(site->source),
                                  site->is_newer ? "  (changed since the recording began)" : ""));
  }
}

// A stable word of a binary's state, in words.
std::string_view reason_text(std::string_view state) {
  if (state == "not_found") return "the file no longer exists";
  if (state == "build_id_mismatch") return "it was rebuilt since";
  if (state == "newer_than_recording") return "it has no build id and was written since";
  if (state == "no_symbols") return "it was stripped";
  if (state == "not_tried") return "there was no time left";
  if (state == "unreadable") return "it cannot be read";
  if (state == "not_elf") return "it is not an ELF file, or damaged";
  return "it does not contain the addresses";
}

void write_unresolved(Page& page, const analysis::CodeMap& code) {
  for (const auto& binary : code.unresolved()) {
    page.paragraph(2,
                   fmt::format("! {}: no names: {} ({})", binary.path, reason_text(binary.state),
                               binary.state),
                   Tone::Warning, 4);
  }
  if (!code.unresolved().empty()) {
    page.paragraph(
        4, "-> gpufl symbolize SESSION --debug-dir DIR, where DIR contains the files that ran.",
        Tone::Plain, 3);
  }
}

// In a few words, for a report that has no room for each.
void write_unresolved_briefly(Page& page, const analysis::CodeMap& code) {
  if (code.unresolved().empty()) return;
  page.paragraph(2,
                 fmt::format("! {} without names: gpufl symbolize SESSION --debug-dir DIR",
                             text::plural(code.unresolved().size(), "binary")),
                 Tone::Warning, 4);
}

// Waits of the host as the log calls them: "StreamSynchronize".
void write_waits_by_call(Page& page, const std::vector<WaitGroup>& waits, double session_ns,
                         size_t top) {
  TextTable table{
      {{"wait", true}, {"count"}, {"blocked"}, {"mean"}, {"p99", false, 2}, {"longest", false, 1}}};
  for (const WaitGroup& wait : waits) {
    if (table.rows.size() == top) break;
    const analysis::Stats& blocked = wait.blocked_ns;
    const auto total_ns = static_cast<double>(blocked.total);
    table.rows.push_back({wait.call, text::count(blocked.count),
                          text::duration(total_ns) + share_text(total_ns, session_ns),
                          text::duration(blocked.mean), duration_text(blocked.p99),
                          duration_text(blocked.max)});
  }
  page.table(table);
  write_more(page, waits.size(), table.rows.size());
}

void write_waits_by_line(Page& page, const SessionReport& report,
                         const std::vector<SyncLine>& lines, const analysis::Distribution& all,
                         size_t top, Detail detail) {
  const auto session_ns = static_cast<double>(report.overview.recorded_ns);
  const analysis::Waits& waits = report.session.tables.waits;
  TextTable table{{{"wait", true}, {"at", true}, {"blocked"}, {"longest", false, 1}}, {}, 1};
  std::vector<const CodeSite*> sites;
  uint64_t with_line = 0;
  double with_line_ns = 0;
  for (const SyncLine& line : lines) {
    const auto blocked_ns = static_cast<double>(line.blocked_ns);
    if (!line.holds_stream) with_line += line.waits.size();
    with_line_ns += blocked_ns;
    if (table.rows.size() == top) continue;
    int64_t longest_ns = 0;
    for (const uint32_t row : line.waits) longest_ns = std::max(longest_ns, waits.duration[row]);
    sites.push_back(line.site);
    table.rows.push_back(
        {fmt::format("{} x {}", wait_name(waits, line), text::count(line.waits.size())),
         line.site->text,
         line.holds_stream ? "stream waits"
                           : text::duration(blocked_ns) + share_text(blocked_ns, session_ns),
         duration_text(longest_ns)});
  }
  const size_t shown = table.rows.size();
  if (with_line < all.count) {
    const double rest_ns = all.total - with_line_ns;
    table.rows.push_back({fmt::format("x {}", text::count(all.count - with_line)),
                          "unknown: no stack",
                          text::duration(rest_ns) + share_text(rest_ns, session_ns), "-"});
  }
  table.min_flexible = 28;
  page.table(table);
  write_more(page, lines.size(), shown);
  if (detail == Detail::Full) write_sources(page, sites);
}

// Where waits take much of the time, the next question is which lines wait.
void write_way_to_lines(Page& page, const SessionReport& report) {
  const auto& kernels = report.overview.kernels;
  if (!kernels || kernels->by_line || kernels->by_line.unknown().remedy.empty()) return;
  page.paragraph(2, "-> To see which lines wait, " + kernels->by_line.unknown().remedy + ".",
                 Tone::Plain, 3);
}

// Calls that hold up a stream until an event, which block nobody.
uint64_t count_stream_waits(const SessionReport& report) {
  const analysis::Waits& waits = report.session.tables.waits;
  const analysis::Selection selection(report.session.tables, report.overview.options);
  uint64_t count = 0;
  for (size_t row = 0; row < waits.rows(); ++row) {
    if (!analysis::holds_host(waits, row) && selection.includes(waits, row)) ++count;
  }
  return count;
}

}  // namespace

void write_waits(Page& page, const SessionReport& report, size_t top, MissingFigures& missing,
                 Detail detail) {
  const auto& waits = report.overview.waits;
  if (!waits) {
    missing.add("waits of the host", waits.unknown());
    return;
  }
  const uint64_t stream_waits = count_stream_waits(report);
  if (waits->empty() && stream_waits == 0) return;
  analysis::Distribution all;
  for (const WaitGroup& wait : *waits) {
    all.count += wait.blocked_ns.count;
    all.total += static_cast<double>(wait.blocked_ns.total);
  }
  const auto session_ns = static_cast<double>(report.overview.recorded_ns);
  if (detail == Detail::Brief && all.total < kWorthShowing * session_ns) return;
  page.heading("SYNCHRONIZATION",
               fmt::format("{}{} blocked in {}", text::duration(all.total),
                           share_text(all.total, session_ns), text::plural(all.count, "wait")));
  const analysis::SessionView view(report.session, report.overview, {});
  const std::vector<SyncLine> lines = sync_lines(view);
  if (!lines.empty()) {
    write_waits_by_line(page, report, lines, all, top, detail);
  } else if (!waits->empty()) {
    write_waits_by_call(page, *waits, session_ns, top);
    if (all.total >= kDominant * session_ns) write_way_to_lines(page, report);
  }
  if (detail == Detail::Brief) {
    write_unresolved_briefly(page, report.session.code);
    return;
  }
  if (stream_waits > 0) {
    page.field("stream waits", fmt::format("{}: a stream waits for an event, and the host "
                                           "continues",
                                           text::count(stream_waits)));
  }
  write_unresolved(page, report.session.code);
}

void write_launches(Page& page, const SessionReport& report, size_t top, MissingFigures& missing) {
  if (!report.overview.kernels) return;
  const auto& lines = report.overview.kernels->by_line;
  if (!lines) {
    missing.add("lines of code", lines.unknown());
    return;
  }
  // Where labels of a framework tell lines, stacks would tell how they came to be called.
  if (const auto& calls = report.overview.kernels->by_api_call; !calls) {
    missing.add("call stacks (the lines above come from PyTorch's labels)", calls.unknown());
  }
  if (lines->empty()) return;
  page.heading("LAUNCHES BY LINE");
  TextTable table{{{"kernels"}, {"at", true}, {"GPU time"}, {"mean", false, 1}}, {}, 1};
  for (const KernelGroup& group : *lines) {
    if (table.rows.size() == top) break;
    const analysis::Stats& stats = group.duration_ns;
    table.rows.push_back(
        {text::count(stats.count), group.label,
         fmt::format("{} ({})", duration_text(stats.total), text::percent(group.share)),
         text::duration(stats.mean)});
  }
  page.table(table);
  write_more(page, lines->size(), table.rows.size());
  const auto& waits = report.overview.waits;
  if (!waits || waits->empty()) write_unresolved(page, report.session.code);
}

}  // namespace gpufl::report
