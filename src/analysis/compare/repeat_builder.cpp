// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/repeat_builder.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/figures/busy.hpp"
#include "analysis/figures/iterations.hpp"
#include "analysis/figures/kernel_groups.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/figures/scope_busy.hpp"
#include "analysis/math/stats.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/scope_paths.hpp"
#include "analysis/session/selection.hpp"
#include "format/columns.hpp"

namespace gpufl::analysis::compare {
namespace {

AnalysisOptions options_for(const std::optional<Interval>& window) {
  AnalysisOptions options;
  options.window = window;
  options.depth = Depth::Summary;
  options.top = 0;
  return options;
}

std::string config_text(const LaunchConfig& config) {
  std::string text = fmt::format("grid {}x{}x{}, block {}x{}x{}", config.grid[0], config.grid[1],
                                 config.grid[2], config.block[0], config.block[1], config.block[2]);
  if (config.shared_dynamic.value_or(0) > 0) {
    text += fmt::format(", {} B shared", *config.shared_dynamic);
  }
  return text;
}

void fill(Item& item, std::vector<int64_t>& durations) {
  const Stats stats = stats_of(std::span(durations));
  item[Metric::Count] = static_cast<double>(stats.count);
  if (stats.count == 0) return;
  item[Metric::Median] = stats.median;
  item[Metric::Mean] = stats.mean;
  item[Metric::P90] = static_cast<double>(stats.p90);
  item[Metric::P99] = static_cast<double>(stats.p99);
  item[Metric::Total] = static_cast<double>(stats.total);
}

// The middle of durations that were read off a clock with steps: those that were read alike lie
// anywhere in their step. `median`: the one of what was read, which jumps from step to step.
double median_within_step(std::span<const int64_t> durations, double median) {
  double low = median - kClockStepNs / 2;
  double high = median + kClockStepNs / 2;
  size_t below = 0;
  size_t alike = 0;
  for (const int64_t duration : durations) {
    const auto value = static_cast<double>(duration);
    const double border = (value + median) / 2;
    if (value < median) {
      ++below;
      low = std::max(low, border);
    } else if (value > median) {
      high = std::min(high, border);
    } else {
      ++alike;
    }
  }
  if (alike < 2) return median;
  const double rank = static_cast<double>(durations.size()) / 2 - static_cast<double>(below);
  return low + (high - low) * rank / static_cast<double>(alike);
}

// A scope that ended where the program ended it.
bool has_duration(uint8_t ending) {
  return ending != Scopes::kOpen && ending != static_cast<uint8_t>(format::ScopeEnding::Lost) &&
         ending != static_cast<uint8_t>(format::ScopeEnding::Shutdown);
}

}  // namespace

std::vector<std::string> known_losses(const SessionSummary& summary) {
  std::vector<std::string> losses;
  if (summary.live) {
    losses.emplace_back("it is still being recorded");
  } else if (!summary.ledger) {
    losses.emplace_back("it was cut off, its last moments may be lost");
  } else if (summary.ledger->uncounted.contains(format::Ledger::kTruncatedTrace)) {
    losses.emplace_back("the file that it was imported from ends early");
  } else if (summary.ledger->completeness_of_trace() == format::Completeness::Incomplete) {
    losses.emplace_back("its ledger says that records are missing");
  }
  if (summary.has_faults || unread_rows(summary).unread > 0) {
    losses.emplace_back("parts of its log cannot be read");
  }
  return losses;
}

// A session, and what several of its figures need.
struct RepeatBuilder::Source {
  const SessionData& session;
  AnalysisOptions options;
  Selection selection;
  const ScopePaths& paths;
};

void RepeatBuilder::add(const SessionData& session, std::optional<Interval> window) {
  const AnalysisOptions options = options_for(window);
  const std::shared_ptr<const ScopePaths> paths = session.scope_paths(options);
  const Source source{session, options, {session.tables, options}, *paths};
  add_facts(session.summary);
  if (!records_gpu_work(session)) {
    repeat_.without_gpu_work.push_back(missing_gpu_work(session.summary).reason);
  }
  add_kernels(source);
  add_scopes(source);
  add_total(source);
  for (WarpFigures& warp : warp_figures(session, source.options)) {
    repeat_.warps.push_back(std::move(warp));
  }
}

void RepeatBuilder::add_facts(const SessionSummary& summary) {
  const format::SessionHeader& header = summary.header;
  const int64_t end_wall_ns = header.start_wall_ns + summary.duration_ns;
  if (repeat_.sessions++ == 0) {
    repeat_.name = header.session_id;
    repeat_.start_wall_ns = header.start_wall_ns;
    repeat_.end_wall_ns = end_wall_ns;
    repeat_.engine = header.engine;
    repeat_.app = header.app_name;
  } else {
    repeat_.name = header.run_id;
    repeat_.start_wall_ns = std::min(repeat_.start_wall_ns, header.start_wall_ns);
    repeat_.end_wall_ns = std::max(repeat_.end_wall_ns, end_wall_ns);
  }
  repeat_.is_budgeted |= summary.is_budgeted();
  for (const base::Json& device : summary.devices) {
    const std::string& name = device["name"].as_string();
    if (!name.empty()) repeat_.devices.push_back(name);
  }
  for (const std::string& loss : known_losses(summary)) {
    repeat_.losses.push_back(fmt::format("{}: {}", header.session_id, loss));
  }
}

void RepeatBuilder::add_kernels(const Source& source) {
  const Tables& tables = source.session.tables;
  std::unordered_map<uint64_t, std::vector<int64_t>> launches;  // by path and configuration
  const RowRange rows = source.selection.rows(tables.kernels);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    const uint32_t scope = tables.callers[tables.kernels.caller[row]].scope;
    const uint32_t path = scope == kNoRow ? kNoRow : source.paths.of_scope[scope];
    launches[uint64_t{path} << 32 | tables.kernels.config[row]].push_back(
        tables.kernels.duration[row]);
  }
  for (const auto& [where, durations] : launches) {
    const auto path = static_cast<uint32_t>(where >> 32);
    const LaunchConfig& config = tables.config(static_cast<uint32_t>(where));
    Key key{Subject::Launch, path == kNoRow ? "" : source.paths.paths[path].text,
            source.session.kernel_names().of(config.name).full_name, config_text(config)};
    const Key by_name{Subject::Kernel, "", key.kernel, ""};
    for (std::vector<int64_t>* gathered : {&durations_[by_name], &durations_[std::move(key)]}) {
      gathered->insert(gathered->end(), durations.begin(), durations.end());
    }
    kernels_ += durations.size();
    for (const int64_t duration : durations) kernel_ns_ += static_cast<double>(duration);
  }
}

void RepeatBuilder::add_scopes(const Source& source) {
  const Scopes& scopes = source.session.tables.scopes;
  if (scopes.rows() == 0) return;
  const RowRange rows = source.selection.rows(scopes);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    const uint32_t path = source.paths.of_scope[row];
    if (path == kNoRow || !has_duration(scopes.ending[row])) continue;
    const int64_t iterations = std::max<int64_t>(1, scopes.repeat[row]);
    durations_[{Subject::Scope, source.paths.paths[path].text, "", ""}].push_back(
        scopes.duration[row] / iterations);
  }
  const std::vector<int64_t> busy =
      scope_busy_times(source.session.tables, source.selection, source.paths);
  for (size_t path = 0; path < busy.size(); ++path) {
    if (busy[path] == 0) continue;
    const std::string& text = source.paths.paths[path].text;
    busy_[{Subject::Scope, text, "", ""}] += static_cast<double>(busy[path]);
  }
}

void RepeatBuilder::add_total(const Source& source) {
  for (const DeviceBusy& device : busy_times(source.session, source.options)) {
    if (device.busy_ns > 0) busy_[{}] += static_cast<double>(device.busy_ns);
  }
  const std::optional<Interval>& window = source.options.window;
  const int64_t length_ns = window ? window->length() : source.session.summary.duration_ns;
  time_ns_ = std::max(time_ns_, static_cast<double>(length_ns));
  if (const auto iterations = find_iterations(source.session, source.options)) {
    for (const Iteration& iteration : iterations->list) {
      if (iteration.is_warmup || iteration.is_cut) continue;
      durations_[{}].push_back(iteration.span.length());
    }
  }
}

Repeat RepeatBuilder::finish() {
  for (auto& [key, durations] : durations_) {
    Item& item = repeat_.items[key];
    fill(item, durations);
    if (is_of_gpu_clock(key.subject) && item[Metric::Median]) {
      item[Metric::Median] = median_within_step(durations, *item[Metric::Median]);
    }
  }
  for (const auto& [key, busy_ns] : busy_) repeat_.items[key][Metric::Busy] = busy_ns;

  // Of all of it, count and total are of kernels; only the rest is of its iterations.
  Item& total = repeat_.items[Key{}];
  total[Metric::Count].reset();
  total[Metric::Total].reset();
  if (kernels_ > 0) {
    total[Metric::Count] = static_cast<double>(kernels_);
    total[Metric::Total] = kernel_ns_;
  }
  if (time_ns_ > 0) total[Metric::Time] = time_ns_;
  std::sort(repeat_.devices.begin(), repeat_.devices.end());
  return std::move(repeat_);
}

}  // namespace gpufl::analysis::compare
