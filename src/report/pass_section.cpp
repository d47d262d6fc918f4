// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/math/saturating.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::LaunchMismatch;
using analysis::MergedPasses;
using analysis::SessionPass;

struct PassedProcess {
  std::string label;  // empty: the only one
  const MergedPasses& merged;
};
using PassedProcesses = std::vector<PassedProcess>;

std::string pass_label(size_t place, const SessionPass& pass) {
  return fmt::format("pass {}, {}", place + 1, pass.asked);
}

// "PcSampling", "RangeProfiler, ran as Trace"
std::string pass_engine_text(const PassedProcesses& processes, size_t place) {
  std::set<std::string> others;
  bool is_there = false;
  const std::string& asked = processes.front().merged.list[place].asked;
  for (const PassedProcess& process : processes) {
    const SessionPass& pass = process.merged.list[place];
    is_there |= !pass.got.empty();
    if (!pass.got.empty() && pass.got != asked) others.insert(pass.got);
  }
  if (!is_there) return asked + ", has no session";
  return others.empty() ? asked : fmt::format("{}, ran as {}", asked, fmt::join(others, ", "));
}

// What figures of this pass are shown.
std::string shown_of_pass(const PassedProcesses& processes, size_t place) {
  std::vector<std::string> words;
  const auto add = [&](const char* word, auto is_source) {
    const bool is_any =
        std::any_of(processes.begin(), processes.end(),
                    [&](const PassedProcess& process) { return is_source(process.merged); });
    if (is_any) words.emplace_back(word);
  };
  add("times", [&](const MergedPasses& merged) { return merged.times == place; });
  add("stalls",
      [&](const MergedPasses& merged) { return merged.stalls && *merged.stalls == place; });
  add("counts",
      [&](const MergedPasses& merged) { return merged.counts && *merged.counts == place; });
  add("hardware counters",
      [&](const MergedPasses& merged) { return merged.ranges && *merged.ranges == place; });
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, ", "));
}

void write_pass_table(Page& page, const PassedProcesses& processes) {
  TextTable table{{{"pass"},
                   {"engine", true},
                   {"shown of it", true},
                   {"processes", false, 4},
                   {"kernels", false, 2},
                   {"time on GPU", false, 1},
                   {"lasted", false, 3}}};
  table.flexible = 1;
  for (size_t place = 0; place < processes.front().merged.list.size(); ++place) {
    std::optional<uint64_t> kernels;
    int64_t kernel_ns = 0, longest_ns = 0;
    uint64_t sessions = 0;
    bool has_end = true;
    for (const PassedProcess& process : processes) {
      const SessionPass& pass = process.merged.list[place];
      if (pass.got.empty()) continue;
      ++sessions;
      has_end &= pass.has_end;
      longest_ns = std::max(longest_ns, pass.duration_ns);
      if (!pass.kernels) continue;
      kernels = kernels.value_or(0) + *pass.kernels;
      kernel_ns = analysis::saturating_add(kernel_ns, pass.kernel_ns);
    }
    table.rows.push_back(
        {std::to_string(place + 1), pass_engine_text(processes, place),
         shown_of_pass(processes, place), processes.size() > 1 ? text::count(sessions) : "",
         kernels ? text::count(*kernels) : "-", kernels ? duration_text(kernel_ns) : "-",
         sessions == 0 ? "-" : at_least_if(!has_end, duration_text(longest_ns))});
  }
  table.drop_empty_columns();
  page.table(table);
}

// Why figures are missing that a pass was to give, and why an engine is another one.
void write_pass_reasons(Page& page, const PassedProcesses& processes) {
  std::set<std::string> told;
  const auto tell = [&](const std::string& what, const analysis::Unknown& why) {
    const std::string remedy = why.remedy.empty() ? "" : "; " + why.remedy;
    const std::string line = fmt::format("{}: {}{}", what, why.reason, remedy);
    if (told.insert(line).second) page.paragraph(2, line, Tone::Warning, 2);
  };
  for (const PassedProcess& process : processes) {
    const MergedPasses& merged = process.merged;
    for (size_t place = 0; place < merged.list.size(); ++place) {
      const SessionPass& pass = merged.list[place];
      if (!pass.got.empty() && pass.got != pass.asked) {
        tell(fmt::format("{}, ran as {}", pass_label(place, pass), pass.got), pass.why);
      }
    }
    if (!merged.stalls) tell("no stalls", merged.stalls.unknown());
    if (!merged.counts) tell("no counts by instruction", merged.counts.unknown());
    const bool asks_for_ranges = std::any_of(
        merged.list.begin(), merged.list.end(),
        [](const SessionPass& pass) { return pass.asked.starts_with("RangeProfiler"); });
    if (!merged.ranges && asks_for_ranges) tell("no hardware counters", merged.ranges.unknown());
  }
}

std::string launches_or_unknown(const std::optional<uint64_t>& launches) {
  return launches ? text::count(*launches) : "?";
}

void write_launch_mismatches(Page& page, const PassedProcesses& processes, size_t top) {
  TextTable table{{{"process", true}, {"kernel", true}, {"scope", true, 1}}};
  table.flexible = 1;
  const size_t passes = processes.front().merged.list.size();
  for (size_t place = 0; place < passes; ++place) {
    table.columns.push_back({fmt::format("pass {}", place + 1)});
  }
  size_t all = 0;
  for (const PassedProcess& process : processes) {
    for (const LaunchMismatch& mismatch : process.merged.launches) {
      if (++all > top) continue;
      std::vector<std::string> row{process.label, mismatch.kernel, mismatch.scope};
      for (const auto& launches : mismatch.launches) row.push_back(launches_or_unknown(launches));
      row.resize(table.columns.size());
      table.rows.push_back(std::move(row));
    }
  }
  if (all == 0) return;
  if (processes.size() == 1) {
    table.columns.erase(table.columns.begin());
    for (auto& row : table.rows) row.erase(row.begin());
    table.flexible = 0;
  }
  table.drop_empty_columns();
  page.table(table);
  write_more(page, all, table.rows.size());
}

void write_order_mismatches(Page& page, const PassedProcesses& processes, size_t top) {
  size_t all = 0;
  for (const PassedProcess& process : processes) {
    const MergedPasses& merged = process.merged;
    for (const analysis::OrderMismatch& mismatch : merged.order) {
      if (++all > top) continue;
      page.paragraph(
          2,
          fmt::format("{}{}: where pass {} launches {} (launch {} of its thread), it launches {}",
                      process.label.empty() ? "" : process.label + ", ",
                      pass_label(mismatch.pass, merged.list[mismatch.pass]), merged.times + 1,
                      mismatch.expected, text::count(mismatch.launch), mismatch.found),
          Tone::Warning, 2);
    }
  }
  write_more(page, all, std::min(all, top));
}

void write_absent_passes(Page& page, const PassedProcesses& processes) {
  for (const PassedProcess& process : processes) {
    const auto& list = process.merged.list;
    for (size_t place = 0; place < list.size(); ++place) {
      if (!list[place].got.empty()) continue;
      page.paragraph(2,
                     fmt::format("{}{}: the process has no session",
                                 process.label.empty() ? "" : process.label + ", ",
                                 pass_label(place, list[place])),
                     Tone::Warning, 2);
    }
  }
}

// A line for a page that has room for no more.
std::string brief_mismatches(const PassedProcesses& processes) {
  size_t launches = 0, order = 0, absent = 0;
  for (const PassedProcess& process : processes) {
    launches += process.merged.launches.size();
    order += process.merged.order.size();
    for (const SessionPass& pass : process.merged.list) absent += pass.got.empty() ? 1 : 0;
  }
  std::vector<std::string> parts;
  if (launches > 0) parts.push_back(text::plural(launches, "kernel") + " by launches");
  if (order > 0) parts.push_back(text::plural(order, "thread") + " by order");
  if (absent > 0) parts.push_back(text::plural(absent, "session") + " missing");
  return fmt::format("{}", fmt::join(parts, ", "));
}

void write_merged(Page& page, const PassedProcesses& processes, size_t top, Detail detail) {
  if (processes.empty()) return;
  page.heading("PASSES");
  write_pass_table(page, processes);
  const std::string mismatches = brief_mismatches(processes);
  if (detail == Detail::Brief) {
    if (!mismatches.empty()) page.field("mismatches", mismatches, Tone::Warning);
    return;
  }
  write_pass_reasons(page, processes);
  const bool is_all_compared =
      std::all_of(processes.begin(), processes.end(),
                  [](const auto& process) { return process.merged.uncompared.empty(); });
  const std::string_view none = is_all_compared ? "none" : "none found";
  page.heading("MISMATCHES BETWEEN PASSES", mismatches.empty() ? none : mismatches,
               !mismatches.empty() ? Tone::Warning
               : is_all_compared   ? Tone::Good
                                   : Tone::Plain);
  write_absent_passes(page, processes);
  write_launch_mismatches(page, processes, top);
  write_order_mismatches(page, processes, top);
  std::set<std::string> told;
  for (const PassedProcess& process : processes) {
    for (const std::string& line : process.merged.uncompared) {
      if (told.insert(line).second) page.paragraph(2, "not all compared: " + line, Tone::Plain, 2);
    }
  }
}

}  // namespace

std::string sources_text(const MergedPasses& passes) {
  std::string text = "times of " + pass_label(passes.times, passes.list[passes.times]);
  const auto add = [&](std::string_view what, const analysis::Figure<size_t>& place) {
    if (place) text += fmt::format("; {} of {}", what, pass_label(*place, passes.list[*place]));
  };
  add("stalls", passes.stalls);
  add("counts", passes.counts);
  add("hardware counters", passes.ranges);
  return text;
}

void write_passes(Page& page, const SessionReport& report, size_t top, Detail detail) {
  if (!report.session.passes) return;
  write_merged(page, {{"", *report.session.passes}}, top, detail);
}

void write_passes(Page& page, const analysis::RunData& run, size_t top, Detail detail) {
  PassedProcesses processes;
  for (const analysis::SessionData& session : run.sessions) {
    if (session.passes) {
      processes.push_back({process_text(session.summary.header), *session.passes});
    }
  }
  write_merged(page, processes, top, detail);
}

}  // namespace gpufl::report
