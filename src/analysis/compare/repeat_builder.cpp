// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/repeat_builder.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/figures/busy.hpp"
#include "analysis/figures/iterations.hpp"
#include "analysis/figures/kernel_groups.hpp"
#include "analysis/figures/missing.hpp"
#include "analysis/figures/recorded_time.hpp"
#include "analysis/figures/scope_busy.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/scope_paths.hpp"
#include "analysis/session/selection.hpp"
#include "format/columns.hpp"
#include "text/units.hpp"

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

// A scope that ended where the program ended it.
bool has_duration(uint8_t ending) {
  return ending != Scopes::kOpen && ending != static_cast<uint8_t>(format::ScopeEnding::Lost) &&
         ending != static_cast<uint8_t>(format::ScopeEnding::Shutdown);
}

std::vector<std::string> names_of(const ScopePaths& paths) {
  std::vector<std::string> names;
  names.reserve(paths.paths.size());
  for (const ScopePaths::Path& path : paths.paths) names.push_back(path.text);
  return names;
}

// Tags number iterations ("step / 17"): without those of the iterations and of what is around them.
std::vector<std::string> names_without_numbers(const SessionData& session, const ScopePaths& paths,
                                               uint32_t iteration) {
  const uint32_t depth = paths.paths[iteration].depth;
  std::vector<std::string> names;
  names.reserve(paths.paths.size());
  for (const ScopePaths::Path& path : paths.paths) {
    const bool is_inner = path.parent != kNoRow;
    if (path.depth > depth) {
      names.push_back(names[path.parent] + path.text.substr(paths.paths[path.parent].text.size()));
    } else {
      names.push_back((is_inner ? names[path.parent] + " > " : "") +
                      session.tables.name(path.name));
    }
  }
  return names;
}

// The iterations after those that warm up, and from where to where they reach.
struct Steady {
  Interval span;
  size_t iterations = 0;
};
std::optional<Steady> steady_part(const Iterations& found) {
  std::optional<Steady> steady;
  for (const Iteration& iteration : found.list) {
    if (iteration.is_warmup || iteration.is_cut) continue;
    if (!steady) steady.emplace(Steady{iteration.span, 0});
    steady->span.end = iteration.span.end;
    ++steady->iterations;
  }
  return steady;
}

// How long it takes depends on how many there are.
bool holds_several(const Iterations& found, Interval span) {
  const auto first = std::lower_bound(
      found.list.begin(), found.list.end(), span.start,
      [](const Iteration& iteration, int64_t time_ns) { return iteration.span.start < time_ns; });
  return found.list.end() - first >= 2 && std::next(first)->span.start < span.end;
}

// When the GPU did what iterations asked for: it may be some behind.
Interval work_of(const SessionData& session, const Iterations& found, Interval asked) {
  if (found.source == IterationSource::KernelSequence) return asked;
  const Kernels& kernels = session.tables.kernels;
  std::optional<Interval> work;
  for (size_t row = 0; row < kernels.rows(); ++row) {
    const int64_t asked_ns = kernels.asked_at(row);
    if (asked_ns < asked.start || asked_ns >= asked.end) continue;
    if (!work) work = Interval{kernels.start[row], kernels.end(row)};
    work->end = std::max(work->end, kernels.end(row));
  }
  return work.value_or(asked);
}

}  // namespace

std::vector<std::string> known_losses(const SessionSummary& summary) {
  std::vector<std::string> losses;
  const std::string time = text::duration(static_cast<double>(summary.duration_ns));
  if (summary.live) {
    losses.push_back("it is still being recorded: its time is at least " + time);
  } else if (!summary.ledger) {
    losses.push_back("it was cut off: its time is at least " + time +
                     ", and its last moments may be lost");
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

// A part of a session, and what several of its figures need.
struct RepeatBuilder::Source {
  const SessionData& session;
  AnalysisOptions options;  // of what the GPU does
  Selection work;
  Selection scopes;
  int64_t time_ns;
  const ScopePaths& paths;
  std::vector<std::string> names;          // of each path
  const Iterations* iterations = nullptr;  // what the part is cut into
};

void RepeatBuilder::add(const SessionData& session, std::optional<Interval> window) {
  const AnalysisOptions options = options_for(window);
  const std::shared_ptr<const ScopePaths> paths = session.scope_paths(options);
  const Selection selection(session.tables, options);
  const int64_t time_ns = window ? window->length() : session.summary.duration_ns;
  const Source source{session, options, selection, selection, time_ns, *paths, names_of(*paths)};
  add_facts(session.summary);
  for (const ScopePaths::Path& path : paths->paths) {
    repeat_.scope_names.insert(session.tables.name(path.name));
  }
  if (!records_gpu_work(session)) {
    repeat_.without_gpu_work.push_back(missing_gpu_work(session.summary).reason);
  }
  add_source(source, sums_);
  const Figure<Iterations> iterations = find_iterations(session, options);
  if (iterations) {
    for (const Iteration& iteration : iterations->list) {
      if (iteration.is_warmup || iteration.is_cut) continue;
      sums_.durations[{}].push_back(iteration.span.length());
    }
  }
  // Parts of a session are cut so that they have equally many.
  if (!window) add_iterations(source, iterations ? &*iterations : nullptr);
  for (WarpFigures& warp : warp_figures(session, source.options)) {
    repeat_.warps.push_back(std::move(warp));
  }
}

void RepeatBuilder::add_source(const Source& source, ItemSums& sums) {
  add_kernels(source, sums);
  add_scopes(source, sums);
  for (const DeviceBusy& device : busy_times(source.session, source.options)) {
    if (device.busy_ns > 0) sums.busy_ns[{}] += static_cast<double>(device.busy_ns);
  }
  sums.time_ns = std::max(sums.time_ns, static_cast<double>(source.time_ns));
}

// All sessions of a repeat must agree on what its iterations are.
void RepeatBuilder::add_iterations(const Source& whole, const Iterations* found) {
  const SessionData& session = whole.session;
  const std::optional<Steady> steady = found == nullptr ? std::nullopt : steady_part(*found);
  if (!steady || session.summary.is_budgeted() ||
      !clip(unrecorded_spans(session), steady->span).empty()) {
    are_iterations_alike_ = false;
    return;
  }
  const std::string label = fmt::format("{}: {}", to_string(found->source), found->label);
  if (repeat_.iterations &&
      (repeat_.iterations->label != label || repeat_.iterations->count != found->list.size())) {
    are_iterations_alike_ = false;
    return;
  }
  repeat_.iterations = RepeatIterations{
      label, found->source != IterationSource::KernelSequence, found->list.size(), {}};
  steady_iterations_ += static_cast<double>(steady->iterations);

  const AnalysisOptions work = options_for(work_of(session, *found, steady->span));
  const bool is_of_scopes = found->source == IterationSource::Scopes;
  const Source source{
      session,
      work,
      {session.tables, work},
      {session.tables, options_for(steady->span)},
      steady->span.length() / static_cast<int64_t>(steady->iterations),
      whole.paths,
      is_of_scopes ? names_without_numbers(session, whole.paths, found->scope_path) : whole.names,
      found};
  add_source(source, steady_sums_);
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

void RepeatBuilder::add_kernels(const Source& source, ItemSums& sums) {
  const Tables& tables = source.session.tables;
  std::unordered_map<uint64_t, std::vector<int64_t>> launches;  // by path and configuration
  const RowRange rows = source.work.rows(tables.kernels);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    const uint32_t scope = tables.callers[tables.kernels.caller[row]].scope;
    const uint32_t path = scope == kNoRow ? kNoRow : source.paths.of_scope[scope];
    launches[uint64_t{path} << 32 | tables.kernels.config[row]].push_back(
        tables.kernels.duration[row]);
  }
  for (const auto& [where, durations] : launches) {
    const auto path = static_cast<uint32_t>(where >> 32);
    const LaunchConfig& config = tables.config(static_cast<uint32_t>(where));
    Key key{Subject::Launch, path == kNoRow ? "" : source.names[path],
            source.session.kernel_names().of(config.name).full_name, config_text(config)};
    if (!config.shared_dynamic) repeat_.unknown_shared.insert(key.kernel);
    std::vector<int64_t>& gathered = sums.durations[std::move(key)];
    gathered.insert(gathered.end(), durations.begin(), durations.end());
    sums.kernels += durations.size();
    for (const int64_t duration : durations) sums.kernel_ns += static_cast<double>(duration);
  }
}

void RepeatBuilder::add_scopes(const Source& source, ItemSums& sums) {
  const Scopes& scopes = source.session.tables.scopes;
  if (scopes.rows() == 0) return;
  const RowRange rows = source.scopes.rows(scopes);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    const uint32_t path = source.paths.of_scope[row];
    if (path == kNoRow || !has_duration(scopes.ending[row])) continue;
    if (source.iterations != nullptr &&
        holds_several(*source.iterations, {scopes.start[row], scopes.end(row)})) {
      continue;
    }
    const int64_t iterations = std::max<int64_t>(1, scopes.repeat[row]);
    sums.durations[{Subject::Scope, source.names[path], "", ""}].push_back(scopes.duration[row] /
                                                                           iterations);
  }
  const std::vector<int64_t> busy =
      scope_busy_times(source.session.tables, source.work, source.paths);
  for (size_t path = 0; path < busy.size(); ++path) {
    if (busy[path] == 0) continue;
    const std::string& text = source.names[path];
    sums.busy_ns[{Subject::Scope, text, "", ""}] += static_cast<double>(busy[path]);
  }
}

Repeat RepeatBuilder::finish() {
  repeat_.items = sums_.items();
  if (!are_iterations_alike_) repeat_.iterations.reset();
  if (repeat_.iterations) {
    repeat_.iterations->items =
        steady_sums_.items(steady_iterations_ / static_cast<double>(repeat_.sessions));
  }
  std::sort(repeat_.devices.begin(), repeat_.devices.end());
  return std::move(repeat_);
}

}  // namespace gpufl::analysis::compare
