// SPDX-License-Identifier: Apache-2.0
#include "client/session_config.hpp"

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "capture/engine_ladder.hpp"
#include "client/deep_condition.hpp"
#include "client/option_table.hpp"

namespace gpufl::client {

namespace {

uint64_t megabytes(int count) { return static_cast<uint64_t>(count) << 20; }
int64_t seconds(int count) { return int64_t{count} * 1'000'000'000; }
int64_t milliseconds(int count) { return int64_t{count} * 1'000'000; }

constexpr int64_t kPauseWithinBudget_ns = 95'000'000;

format::LogOptions log_options(const InitOptions& options) {
  format::LogOptions log;
  log.window_bytes = megabytes(options.log_window_mb);
  log.window_age_ns = seconds(options.log_window_s);
  log.spool_bytes = megabytes(options.log_spool_mb);
  log.disk_floor_bytes = megabytes(options.log_disk_floor_mb);
  log.keep_last_ns = seconds(options.log_keep_last_s);
  log.fsync_always = options.flush_logs_always;
  return log;
}

backend::PcSamplingOptions sampling_options(const ResolvedOptions& resolved) {
  const InitOptions& options = resolved.options;
  backend::PcSamplingOptions sampling;
  sampling.period_exponent = options.pc_sampling_period;
  sampling.window_ns = milliseconds(options.pc_sampling_window_ms);
  sampling.pause_ns = milliseconds(options.pc_sampling_pause_ms);
  // A phase is short, and what it costs is known: windows in it follow each other more closely.
  const bool is_chosen = resolved.chosen.contains("pc_sampling_pause_ms");
  const bool alternates = options.profiling_engine == ProfilingEngine::Deep;
  if ((options.overhead_budget > 0 || alternates) && !is_chosen) {
    sampling.pause_ns = kPauseWithinBudget_ns;
  }
  return sampling;
}

capture::DeepWindowOptions deep_window_options(const InitOptions& options) {
  capture::DeepWindowOptions windows;
  windows.is_only = options.deep_window_only;
  if (options.deep_after_ms > 0) windows.after_ns = milliseconds(options.deep_after_ms);
  if (!options.deep_when.empty()) {
    // What cannot be read was told and dropped before.
    if (auto when = parse_deep_condition(options.deep_when)) windows.when = std::move(*when);
  }
  windows.duration_ns = milliseconds(options.deep_window_ms);
  windows.max_launches = static_cast<uint64_t>(options.deep_window_max_launches);
  windows.cooldown_ns = milliseconds(options.deep_window_cooldown_ms);
  return windows;
}

// "a, b" as its parts, without blanks and empty ones.
std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

backend::PmSamplingOptions pm_sampling_options(const InitOptions& options) {
  backend::PmSamplingOptions sampling;
  sampling.metrics = names_in(options.pm_sampling_metrics);
  if (sampling.metrics.empty()) sampling.metrics = names_in(options.pm_sampling_preset);
  sampling.interval_ns = int64_t{options.pm_sampling_interval_us} * 1000;
  sampling.max_samples = static_cast<uint32_t>(options.pm_sampling_max_samples);
  sampling.scope_only = options.pm_sampling_scope_only;
  return sampling;
}

// Options that someone turned on by hand: an engine that cannot serve one says so.
std::vector<std::string> wanted_features(const InitOptions& options) {
  std::vector<std::string> names;
  for (const char* name :
       {"enable_stack_trace", "enable_memory_tracking", "enable_cuda_graphs_tracking",
        "enable_queue_times", "pc_sampling_period", "pc_sampling_window_ms", "pc_sampling_pause_ms",
        "sass_metrics", "range_metrics", "pm_sampling_interval_us", "pm_sampling_max_samples",
        "pm_sampling_preset", "pm_sampling_metrics", "deep_window_only", "deep_after_ms",
        "deep_when"}) {
    if (!find_field(name)->is_default(options)) names.emplace_back(name);
  }
  return names;
}

// The folder of the run, where a launcher gave it an id: sessions of a run lie together.
std::string run_folder(const Environment& env) {
  const std::string id = env("GPUFL_RUN_ID").value_or("");
  return id.empty() ? id : file_name_of(id);
}

}  // namespace

capture::SessionConfig session_config(const ResolvedOptions& resolved, const LaunchRequest& request,
                                      const Environment& env) {
  const InitOptions& options = resolved.options;
  capture::SessionConfig config;
  config.app_name = options.app_name;
  config.log_root = log_root_of(options);
  config.engine = to_string(options.profiling_engine);
  config.backend = resolved.backend_name;
  config.sample_interval_ms = options.system_sample_rate_ms;
  config.continuous_sampling = options.continuous_system_sampling;
  config.dormant = request.dormant;
  config.capture_range = request.capture_range;
  config.run_id = run_folder(env);
  config.pass = request.pass;
  config.passes = request.passes;
  config.stacks = options.enable_stack_trace;
  config.sources = options.enable_source_collection;
  config.trace.synchronization = options.enable_synchronization;
  config.trace.memory = options.enable_memory_tracking;
  config.trace.graphs = options.enable_cuda_graphs_tracking;
  config.trace.external_correlation = options.enable_external_correlation;
  config.trace.queue_times = options.enable_queue_times;
  config.overhead_budget = options.overhead_budget / 100;
  config.deep_windows = deep_window_options(options);
  const bool takes_samples = capture::takes_samples(config.engine);
  const std::string_view counting = capture::counting_engine(config.engine);
  const bool counts = counting == capture::kSassEngine;
  config.trace.code = takes_samples || counts;
  if (takes_samples) config.trace.pc_sampling = sampling_options(resolved);
  if (counts) config.trace.sass = backend::SassOptions{names_in(options.sass_metrics)};
  if (counting == capture::kRangeEngine) {
    config.trace.ranges.emplace().metrics = names_in(options.range_metrics);
  }
  if (config.engine == capture::kPmEngine) config.trace.pm_sampling = pm_sampling_options(options);
  config.log = log_options(options);
  config.features = wanted_features(options);
  for (const OptionWarning& warning : resolved.warnings) {
    config.events.push_back(warning.to_event());
  }
  config.events.insert(config.events.end(), request.events.begin(), request.events.end());
  return config;
}

}  // namespace gpufl::client
