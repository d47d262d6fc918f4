// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "report/text_sections.hpp"
#include "report/units.hpp"

namespace gpufl::report {

namespace {

using analysis::CodeSite;
using analysis::CodeSummary;
using analysis::SessionSummary;

constexpr size_t kShownSources = 3;

std::string site_text(const CodeSite& site) {
  return site.text.empty() ? "unknown: no stack" : "@ " + site.text;
}

std::string share_text(double part, double whole) {
  return whole > 0 ? fmt::format(" ({})", format_percent(part / whole)) : std::string();
}

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string() : std::string(text.substr(begin));
}

// The code of the first places, each once.
template <typename Site>
void write_sources(TextPage& page, const std::vector<Site>& sites) {
  std::set<std::string> shown;
  for (const Site& entry : sites) {
    const CodeSite& site = entry.site;
    if (shown.size() == kShownSources) break;
    if (site.source.empty() || !shown.insert(site.text).second) continue;
    page.paragraph(2, fmt::format("{}:{}: {}{}", site.file, site.line, trimmed(site.source),
                                  site.is_newer ? "  (changed since the recording began)" : ""));
  }
}

// A stable word of a binary's state, in words.
std::string_view reason_text(std::string_view state) {
  if (state == "not_found") return "the file is not there any more";
  if (state == "build_id_mismatch") return "it was built anew since";
  if (state == "newer_than_recording") return "it has no build id and was written since";
  if (state == "no_symbols") return "it was stripped";
  if (state == "not_tried") return "there was no time left";
  if (state == "unreadable") return "it may not be read";
  if (state == "not_elf") return "it is no ELF file, or damaged";
  return "its addresses are not in it";
}

void write_unresolved(TextPage& page, const CodeSummary& code) {
  for (const auto& binary : code.unresolved) {
    page.paragraph(2,
                   fmt::format("! {}: no names: {} ({})", binary.path, reason_text(binary.state),
                               binary.state),
                   Tone::Warning, 4);
  }
  if (!code.unresolved.empty()) {
    page.paragraph(
        4, "-> gpufl symbolize SESSION --debug-dir DIR, where DIR holds the files that ran.",
        Tone::Plain, 3);
  }
}

void write_more(TextPage& page, size_t all, size_t shown) {
  if (all > shown) page.paragraph(2, fmt::format("... {} more", format_count(all - shown)));
}

}  // namespace

void write_waits(TextPage& page, const SessionSummary& summary, size_t top) {
  const CodeSummary& code = summary.code;
  if (code.waits.empty()) return;
  const auto session_ns = static_cast<double>(summary.duration_ns);
  page.heading("SYNCHRONIZATION",
               fmt::format("{}{} blocked in {} waits", format_duration(code.blocked_ns.total),
                           share_text(code.blocked_ns.total, session_ns),
                           format_count(code.blocked_ns.count)));
  TextTable table{{{"wait", true}, {"at", true}, {"blocked"}, {"longest", false, 1}}, {}, 1};
  for (const analysis::WaitSite& wait : code.waits) {
    if (table.rows.size() == top) break;
    const double blocked_ns = wait.blocked_ns.total;
    table.rows.push_back({fmt::format("{} x {}", wait.call, format_count(wait.blocked_ns.count)),
                          site_text(wait.site),
                          format_duration(blocked_ns) + share_text(blocked_ns, session_ns),
                          format_duration(wait.blocked_ns.max)});
  }
  page.table(table);
  write_more(page, code.waits.size(), table.rows.size());
  write_sources(page, code.waits);
  if (code.stacks == 0) {
    page.paragraph(2, "No stacks were recorded: enable_stack_trace names the lines that waited.");
  }
  write_unresolved(page, code);
}

void write_launches(TextPage& page, const SessionSummary& summary, size_t top) {
  const CodeSummary& code = summary.code;
  if (code.launches.empty()) return;
  page.heading("LAUNCHES BY LINE",
               fmt::format("{} on the GPU in {} kernels", format_duration(code.gpu_ns.total),
                           format_count(code.gpu_ns.count)));
  TextTable table{{{"kernels"}, {"at", true}, {"GPU time"}, {"mean", false, 1}}, {}, 1};
  for (const analysis::LaunchSite& launch : code.launches) {
    if (table.rows.size() == top) break;
    const double gpu_ns = launch.gpu_ns.total;
    table.rows.push_back({format_count(launch.gpu_ns.count), site_text(launch.site),
                          format_duration(gpu_ns) + share_text(gpu_ns, code.gpu_ns.total),
                          format_duration(launch.gpu_ns.mean())});
  }
  page.table(table);
  write_more(page, code.launches.size(), table.rows.size());
  write_sources(page, code.launches);
  if (code.waits.empty()) write_unresolved(page, code);
}

}  // namespace gpufl::report
