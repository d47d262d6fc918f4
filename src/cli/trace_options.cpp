// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_options.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "backend/vendor.hpp"
#include "capture/capture_gate.hpp"
#include "capture/engine_ladder.hpp"
#include "cli/trace_passes.hpp"
#include "cli/uploading.hpp"
#include "client/launch_request.hpp"
#include "client/options.hpp"

namespace gpufl::cli {
namespace {

constexpr int64_t kMillisecondNs = 1'000'000;
constexpr int64_t kSecondNs = 1'000'000'000;

std::string check_range(const std::string& text) { return capture::RangeGate::refusal(text); }

std::string check_budget(const std::string& text) {
  std::string refusal = client::refusal_of("overhead_budget", text);
  // Shares elsewhere on the command line are 0.5 for 50%.
  const bool has_unit = text.ends_with('%') || text == "0";
  if (!refusal.empty() || has_unit) return refusal;
  return std::string("'").append(text).append("' has no unit; write ").append(text).append("%");
}

std::string check_condition(const std::string& text) {
  return text.empty() ? "the condition is empty" : client::refusal_of("deep_when", text);
}

std::vector<std::string> engine_names() {
  const auto names = capture::engine_names();
  return {names.begin(), names.end()};
}

}  // namespace

std::map<std::string, std::string, std::less<>> TraceOptions::given_variables() const {
  std::map<std::string, std::string, std::less<>> given;
  if (!engine.empty()) given["GPUFL_PROFILING_ENGINE"] = engine;
  if (!name.empty()) given["GPUFL_APP_NAME"] = name;
  if (!budget.empty()) given["GPUFL_OVERHEAD_BUDGET"] = budget;
  if (stacks) given["GPUFL_ENABLE_STACK_TRACE"] = "1";
  if (memory) given["GPUFL_ENABLE_MEMORY_TRACKING"] = "1";
  if (graphs) given["GPUFL_ENABLE_CUDA_GRAPHS_TRACKING"] = "1";
  if (interval_ns) {
    given["GPUFL_SYSTEM_SAMPLE_RATE_MS"] = std::to_string(*interval_ns / kMillisecondNs);
    given["GPUFL_CONTINUOUS_SYSTEM_SAMPLING"] = "1";
  }
  if (has_deep_windows()) given["GPUFL_DEEP_ARM"] = "window";
  if (!deep_when.empty()) given["GPUFL_DEEP_WHEN"] = deep_when;
  if (deep_launches) given["GPUFL_DEEP_WINDOW_MAX_LAUNCHES"] = std::to_string(*deep_launches);
  const auto give_ms = [&](const char* variable, const std::optional<int64_t>& duration_ns) {
    if (duration_ns) given[variable] = std::to_string(*duration_ns / kMillisecondNs);
  };
  give_ms("GPUFL_DEEP_AFTER_MS", deep_after_ns);
  give_ms("GPUFL_DEEP_WINDOW_MS", deep_for_ns);
  give_ms("GPUFL_DEEP_WINDOW_COOLDOWN_MS", deep_cooldown_ns);
  if (keep_last_ns > 0) {
    given["GPUFL_LOG_KEEP_LAST_S"] = std::to_string((keep_last_ns + kSecondNs - 1) / kSecondNs);
  }
  return given;
}

std::vector<std::string> TraceOptions::environment(const std::vector<std::string>& inherited,
                                                   const std::filesystem::path& library,
                                                   const std::string& run_id,
                                                   int64_t monotonic_ns) const {
  std::map<std::string, std::string, std::less<>> ours = given_variables();
  for (const std::string_view variable : backend::injection_variables()) {
    ours[std::string(variable)] = library.string();
  }
  ours["GPUFL_RUN_ID"] = run_id;
  ours["GPUFL_LOG_PATH"] = output.string();
  ours["GPUFL_ENABLE_CONTROL"] = "1";
  // Who runs any program has no scopes in it to choose by.
  const auto is_scope_only = [](const std::string& variable) {
    return variable.starts_with("GPUFL_PM_SAMPLING_SCOPE_ONLY=");
  };
  const bool is_chosen = std::any_of(inherited.begin(), inherited.end(), is_scope_only);
  if (engine == capture::kPmEngine && !is_chosen) ours["GPUFL_PM_SAMPLING_SCOPE_ONLY"] = "0";
  // Of a program that has options of its own for its own sessions.
  ours["GPUFL_OVERRIDE"] = "1";
  client::LaunchRequest request;
  request.dormant = dormant;
  request.capture_range = capture_range;
  request.pass = pass;
  if (pass) request.passes = passes;
  const int64_t begin_ns = monotonic_ns + delay_ns.value_or(0);
  if (delay_ns) request.schedule.resume_at_ns = begin_ns;
  if (duration_ns) request.schedule.end_at_ns = begin_ns + *duration_ns;
  for (const client::OptionWarning& warning : warnings) {
    if (ours.contains(warning.key)) request.events.push_back(warning.to_event());
  }
  for (auto& [variable, value] : request.to_variables()) ours[std::string(variable)] = value;

  std::vector<std::string> all;
  for (const std::string& variable : inherited) {
    const std::string_view its_name(variable.data(), std::min(variable.find('='), variable.size()));
    const auto launch = client::launch_variables();
    const bool is_ours = ours.contains(its_name) ||
                         std::find(launch.begin(), launch.end(), its_name) != launch.end();
    if (!is_ours) all.push_back(variable);
  }
  for (const auto& [variable, value] : ours) all.push_back(variable + "=" + value);
  return all;
}

namespace {

void add_deep_window_options(Command command, TraceOptions& options) {
  command.add_duration("--deep-after", {.least = "1ms", .most = "20d"},
                       "Open a deep window this long after the start. With any --deep option the "
                       "engine, by default PcSampling, is attached in deep windows only, and "
                       "outside of them all is recorded as with Trace",
                       store_in(options.deep_after_ns));
  command.add_duration("--deep-for", {.least = "10ms", .most = "60s"},
                       "Close each deep window after this long [default: 2s]",
                       store_in(options.deep_for_ns));
  command
      .add_option(
          "--deep-when", options.deep_when,
          "Open a deep window when this holds, as 'kernel_launch_rate<100 for 2s'. Metrics: "
          "kernel_launch_rate (launches a second), gpu_utilization (percent, busiest GPU)")
      .type_name("CONDITION")
      .check(check_condition);
  command
      .add_option("--deep-launches", options.deep_launches,
                  "Close each deep window after this many launches [default: no bound]")
      .type_name("N")
      .range(1, kLargestCount);
  command.add_duration("--deep-cooldown", {.least = "0s", .most = "1h"},
                       "After a deep window, let no condition open another for this long "
                       "[default: 10s]",
                       store_in(options.deep_cooldown_ns));
}

}  // namespace

void add_trace_options(Command command, TraceOptions& options) {
  command
      .add_program("program", options.command,
                   "The program and its arguments; options before it are gpufl's")
      .required()
      .type_name("...");
  command.add_option("-n,--name", options.name, "Name of the sessions [default: the program's]")
      .type_name("NAME");
  command.add_option("-o,--output", options.output, "Folder for the run's folder")
      .type_name("DIR")
      .default_text(options.output.string());
  const Option engine =
      command
          .add_option(
              "-e,--engine", options.engine,
              "How much to record. From the cheapest to the costliest: Monitor, Trace, PmSampling, "
              "PcSampling, RangeProfiler, SassMetrics, Deep. If one is not available, a cheaper "
              "one "
              "records, and the session says so")
          .type_name("ENGINE")
          .choices_in_any_case(engine_names())
          .default_text("GPUFL_PROFILING_ENGINE, or Trace");
  const auto take_passes = [&options](const std::string& text) -> base::Status {
    auto passes = parse_passes(text);
    if (!passes) return passes.status();
    options.passes = std::move(*passes);
    return {};
  };
  command
      .add_parsed(
          "--passes", take_passes,
          "Run the program once with each of these engines, one after the other, and report "
          "them as one run: Trace,PcSampling,SassMetrics")
      .type_name("ENGINES")
      .default_text("GPUFL_ENGINE_COMBO; else one run with --engine")
      .excludes(engine);
  command
      .add_option("--budget", options.budget,
                  "Slow the program down by at most this much, 0.1% to 50%: record in phases, "
                  "detached in between [default: record all the time]")
      .type_name("PERCENT")
      .check(check_budget);
  add_deep_window_options(command, options);
  command.add_flag("--stacks", options.stacks, "Record the CPU stack of every launch and wait");
  command.add_flag("--memory", options.memory, "Record allocations of GPU memory");
  command.add_flag("--graphs", options.graphs, "Also record launches of whole CUDA graphs");
  command.add_duration("-i,--interval", {.least = "1ms", .most = "1h"},
                       "Sample the health of GPUs and host at this interval [default: not at all]",
                       store_in(options.interval_ns));
  const Option delay = command.add_duration(
      "--delay", {}, "Start recording this long after the start", store_in(options.delay_ns));
  command.add_duration("-d,--duration", {.least = "1ms"},
                       "Stop recording this long after the start, or after the delay if there is "
                       "one; the program continues",
                       store_in(options.duration_ns));
  command.add_duration("--keep-last", {.least = "1s"},
                       "Keep only about the last DURATION of each session",
                       store_in(options.keep_last_ns));
  command
      .add_option("--capture-range", options.capture_range,
                  "Record only between cudaProfilerStart and -Stop (cudaProfilerApi), or in ranges "
                  "or scopes of that name (nvtx:NAME, scope:NAME)")
      .type_name("RANGE")
      .check(check_range);
  command.add_flag("--dormant", options.dormant, "Record nothing until 'gpufl control PID start'")
      .excludes(delay);
  command.add_flag(
      "--no-symbols", options.no_symbols,
      "Do not look for function names and lines at the end (gpufl symbolize does it later)");
  const Option upload =
      command.add_flag("--upload", options.upload,
                       "At the end, send the sessions to the server that gpufl login or "
                       "GPUFL_BACKEND_URL names");
  add_redaction_options(command, options.redaction, upload);
  command.add_flag("-q,--quiet", options.quiet, "Print nothing but errors");
  command.add_flag("--replace", options.replace,
                   "Replace another tool that CUDA_INJECTION64_PATH or NVTX_INJECTION64_PATH "
                   "names");
  command.set_footer(
      "Each process of the program that uses CUDA records a session in DIR/RUN/, through "
      "variables that it inherits. With --passes, no further pass begins after Ctrl-C or another "
      "signal that stops. With GPUFL_DISABLED=1 the program runs unrecorded. "
      "Killing gpufl trace ends the program, too.\nExit code: "
      "the program's own, with --passes the first that is not 0, or 128 plus the number of the "
      "signal that ended it; 2 nothing could be "
      "recorded, and the program was not started; 126 the program cannot be started; 127 it does "
      "not exist.");
}

}  // namespace gpufl::cli
