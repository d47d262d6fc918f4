// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/warp/warp_figures.hpp"
#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::WarpFigures;
using analysis::WarpGroupFigures;

constexpr size_t kIndent = 4;

void warn(Page& page, const std::string& text) { page.paragraph(kIndent, text, Tone::Warning, 2); }

std::string title_of(const WarpFigures& warp) {
  const std::string kernel = warp.kernel.empty() ? "a kernel without a name" : warp.kernel;
  return fmt::format("{}, launch {}: {} blocks of {} groups, {} ranges in {}", kernel,
                     warp.launch.launch, warp.launch.blocks, warp.launch.groups,
                     text::count(warp.spans), text::duration(static_cast<double>(warp.extent_ns)));
}

// What makes the figures below less than the whole truth.
void write_limits(Page& page, const WarpFigures& warp, size_t top) {
  const format::WarpLaunch& launch = warp.launch;
  if (!warp.has_line)
    warn(page, "The log lost the line with this launch's shape, waits and flows.");
  if (launch.dropped.value_or(0) > 0) {
    warn(page, fmt::format("{} of {} records did not fit and are missing.",
                           text::signed_count(*launch.dropped),
                           text::signed_count(launch.offered.value_or(launch.records))));
  }
  std::vector<std::string> problems = launch.problems;
  if (launch.full_lanes > 0) {
    const bool is_one = launch.full_lanes == 1;
    warn(page, fmt::format("{} {} full, and nothing counted what did not fit: {} may have lost "
                           "records.",
                           text::plural(static_cast<uint64_t>(launch.full_lanes), "lane"),
                           is_one ? "is" : "are", is_one ? "it" : "they"));
    // The decoder's sentence of the same.
    std::erase_if(problems, [](const std::string& problem) {
      return problem.find(" lanes are full,") != std::string::npos;
    });
  }
  if (warp.unmatched > 0) {
    warn(page, fmt::format("{} records have no begin or no end; no figure includes them.",
                           text::count(warp.unmatched)));
  }
  for (size_t i = 0; i < std::min(top, problems.size()); ++i) warn(page, problems[i]);
  const uint64_t more = problems.size() - std::min(top, problems.size()) +
                        static_cast<uint64_t>(launch.problems_left_out);
  if (more > 0) warn(page, fmt::format("... {} more problems", text::count(more)));
  if (warp.joined && warp.joined->outside > 0) {
    warn(page, fmt::format("{} ranges are outside the kernel's own times, by up to {}: more than "
                           "the stated error of {}.",
                           text::count(warp.joined->outside),
                           text::duration(static_cast<double>(warp.joined->worst_ns)),
                           text::duration(static_cast<double>(launch.error_ns.value_or(0)))));
  }
}

void write_clock(Page& page, const WarpFigures& warp) {
  const format::WarpLaunch& launch = warp.launch;
  page.field("clock",
             fmt::format("{}, a tick is {}; {}", launch.clock,
                         text::duration(static_cast<double>(launch.tick_ps) / 1e3),
                         launch.error_ns ? "on the session's clock within " +
                                               text::duration(static_cast<double>(*launch.error_ns))
                                         : std::string("not tied to the session's clock")));
  if (launch.event_cost_ps) {
    page.field("cost of a record",
               text::duration(static_cast<double>(*launch.event_cost_ps) / 1e3));
  }
  page.field("error of one range", "+-" + text::duration(warp.span_error_ns));
}

void write_groups(Page& page, const WarpFigures& warp, size_t top) {
  TextTable table{{{"group", true},
                   {"lanes", false, 2},
                   {"busy"},
                   {"waiting"},
                   {"bubble"},
                   {"critical path"},
                   {"most time in", true, 1}}};
  for (const WarpGroupFigures& group : warp.times.groups) {
    if (table.rows.size() == top) break;
    table.rows.push_back({warp.group_name(group.group), text::count(group.lanes),
                          text::percent(group.share(group.busy_ns)),
                          text::percent(group.share(group.wait_ns)),
                          text::percent(group.share(group.bubble_ns())),
                          text::percent(warp.path.share(warp.path.group_ns(group.group))),
                          group.events.empty() ? "-" : warp.event_name(group.events[0].event)});
  }
  page.table(table);
  write_more(page, warp.times.groups.size(), table.rows.size());
}

std::string bottleneck_text(const WarpFigures& warp) {
  const analysis::WarpBottleneck& bottleneck = *warp.bottleneck;
  const bool is_one = bottleneck.is_one();
  const std::string groups = warp.group_names(bottleneck.groups);
  const std::string error = text::percent(bottleneck.error);
  if (!bottleneck.is_by_path) {
    return fmt::format(
        "{} {} of {} time. Which group waits for which is not known: the capture declares no flows "
        "between events that were recorded.",
        groups,
        is_one ? fmt::format("is the busiest: it works for {}", text::percent(bottleneck.share))
               : fmt::format("are the busiest, equal within {}: they work for up to {}", error,
                             text::percent(bottleneck.share)),
        is_one ? "its" : "their");
  }
  if (bottleneck.groups.empty()) {
    return fmt::format(
        "What limits it is not known, because most of the critical path, {}, is not recorded: no "
        "event is open.",
        text::percent(bottleneck.share));
  }
  std::string text =
      fmt::format("{} {}: {} of the critical path is in {} events, {} in {}.", groups,
                  is_one ? "limits it" : "limit it together, equal within " + error,
                  text::percent(bottleneck.share), is_one ? "its" : "their",
                  text::percent(bottleneck.event_share), warp.event_name(bottleneck.event));
  if (bottleneck.gain) {
    text += fmt::format(" Making {} faster saves at most {}.", is_one ? "it" : "one of them",
                        text::percent(*bottleneck.gain));
  }
  return text;
}

void write_path(Page& page, const WarpFigures& warp, size_t top) {
  TextTable table{{{"critical path", true}, {"event", true}, {"share"}, {"in all blocks"}}};
  for (const analysis::PathPart& part : warp.path.parts) {
    if (table.rows.size() == top) break;
    table.rows.push_back({warp.group_name(part.group), warp.event_name(part.event),
                          text::percent(warp.path.share(part.length_ns)),
                          text::duration(static_cast<double>(part.length_ns))});
  }
  page.table(table);
  write_more(page, warp.path.parts.size(), table.rows.size());
}

void write_overlaps(Page& page, const WarpFigures& warp, size_t top) {
  size_t shown = 0;
  for (const analysis::WarpOverlap& overlap : warp.times.overlaps) {
    if (shown++ == top) break;
    page.field("overlap", fmt::format("{} and {} both work for {} of the time",
                                      warp.group_name(overlap.a), warp.group_name(overlap.b),
                                      text::percent(static_cast<double>(overlap.both_ns) /
                                                    static_cast<double>(overlap.extent_ns))));
  }
  write_more(page, warp.times.overlaps.size(), std::min(shown, warp.times.overlaps.size()));
}

void write_steady(Page& page, const WarpFigures& warp, size_t top) {
  TextTable table{{{"steady state", true},
                   {"an iteration begins with", true},
                   {"iterations"},
                   {"mean"},
                   {"p50"},
                   {"p99"},
                   {"left out", false, 1}}};
  for (const analysis::SteadyState& state : warp.steady) {
    if (table.rows.size() == top) break;
    table.rows.push_back(
        {warp.group_name(state.group), warp.event_name(state.event),
         text::count(state.iteration_ns.count), text::duration(state.iteration_ns.mean),
         text::duration(state.iteration_ns.median),
         text::duration(static_cast<double>(state.iteration_ns.p99)), text::count(state.left_out)});
  }
  if (!table.rows.empty()) page.table(table);
}

void write_balance(Page& page, const WarpFigures& warp, MissingFigures& missing) {
  if (!warp.balance) {
    missing.add("balance of multiprocessors", warp.balance.unknown());
    return;
  }
  const analysis::SmBalance& balance = *warp.balance;
  page.field("multiprocessors",
             fmt::format("{} with {} to {} blocks, at most {} at once; {}, the last of {} "
                         "blocks",
                         text::count(balance.sms), balance.blocks_per_sm.min,
                         balance.blocks_per_sm.max, balance.resident,
                         balance.waves.size() == 1 ? std::string("1 wave")
                                                   : fmt::format("{} waves", balance.waves.size()),
                         text::count(balance.waves.back().blocks)));
  page.field("imbalance", fmt::format("{}: SM {} was used longest, {}; the mean is {}",
                                      text::percent(balance.imbalance()), balance.last_sm,
                                      text::duration(static_cast<double>(balance.covered_ns.max)),
                                      text::duration(balance.covered_ns.mean)));
  page.field("blocks", fmt::format("mean {}, p99 {}, longest {} (block {})",
                                   text::duration(balance.block_ns.mean),
                                   text::duration(static_cast<double>(balance.block_ns.p99)),
                                   text::duration(static_cast<double>(balance.block_ns.max)),
                                   balance.longest_block));
}

void write_events(Page& page, const WarpFigures& warp, size_t top) {
  TextTable table{{{"group", true},
                   {"event", true},
                   {"count"},
                   {"total", false, 1},
                   {"mean"},
                   {"p50"},
                   {"p99"},
                   {"max", false, 2},
                   {"", true, 3}}};
  size_t all = 0;
  for (const WarpGroupFigures& group : warp.times.groups) {
    for (const analysis::WarpEventFigures& event : group.events) {
      if (++all > top) continue;
      const analysis::Stats& stats = event.duration_ns;
      const bool has_ranges = stats.count > 0;
      const auto time = [has_ranges](double ns) { return has_ranges ? text::duration(ns) : "-"; };
      table.rows.push_back({warp.group_name(group.group), warp.event_name(event.event),
                            text::count(stats.count + event.instants),
                            time(static_cast<double>(stats.total)), time(stats.mean),
                            time(stats.median), time(static_cast<double>(stats.p99)),
                            time(static_cast<double>(stats.max)),
                            warp.events[event.event].is_wait ? "wait"
                            : event.is_short                 ? "short"
                            : has_ranges                     ? ""
                                                             : "instants"});
    }
  }
  table.drop_empty_columns();
  page.table(table);
  write_more(page, all, table.rows.size());
}

void write_launch(Page& page, const WarpFigures& warp, size_t top, MissingFigures& missing,
                  Detail detail) {
  page.paragraph(2, title_of(warp), Tone::Strong);
  if (page.has_timeline()) {
    page.moment(kIndent, "Show it in the timeline", warp.launch.time_ns,
                warp.launch.time_ns + warp.launch.duration_ns);
  }
  write_limits(page, warp, detail == Detail::Brief ? 1 : top);
  if (!warp.bottleneck) {
    warn(page, "Nothing was recorded in it.");
    return;
  }
  if (detail == Detail::Full) write_clock(page, warp);
  write_groups(page, warp, top);
  page.paragraph(2, bottleneck_text(warp), Tone::Strong, 2);
  if (detail == Detail::Brief) return;
  write_path(page, warp, top);
  write_overlaps(page, warp, top);
  write_steady(page, warp, top);
  write_balance(page, warp, missing);
  write_events(page, warp, top);
  if (!warp.joined) missing.add("the kernel around profiled launches", warp.joined.unknown());
}

}  // namespace

void write_warps(Page& page, const SessionReport& report, size_t top, MissingFigures& missing,
                 Detail detail) {
  const std::vector<WarpFigures>& warps = report.overview.warps;
  if (warps.empty()) return;
  page.heading("INSIDE KERNELS",
               fmt::format("{} profiled launch{}", warps.size(), warps.size() == 1 ? "" : "es"));
  const size_t shown = std::min(detail == Detail::Brief ? 1 : top, warps.size());
  for (size_t i = 0; i < shown; ++i) write_launch(page, warps[i], top, missing, detail);
  write_more(page, warps.size(), shown);
}

}  // namespace gpufl::report
