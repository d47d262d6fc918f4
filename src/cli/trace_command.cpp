// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "backend/vendor.hpp"
#include "base/clock.hpp"
#include "capture/engine_ladder.hpp"
#include "capture/identity.hpp"
#include "cli/exit_codes.hpp"
#include "cli/inject_library.hpp"
#include "cli/launcher.hpp"
#include "cli/libdw.hpp"
#include "cli/print.hpp"
#include "cli/run_control.hpp"
#include "cli/run_record.hpp"
#include "cli/status_line.hpp"
#include "cli/terminal.hpp"
#include "cli/trace_options.hpp"
#include "cli/trace_passes.hpp"
#include "cli/uploading.hpp"
#include "client/options.hpp"
#include "format/session_header.hpp"
#include "format/session_reader.hpp"
#include "report/run_report.hpp"
#include "text/units.hpp"
#include "workbench/summarize_run.hpp"
#include "workbench/symbolize.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kWho = "gpufl trace";
constexpr auto kPace = 1s;

std::vector<std::string> inherited_environment() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  return all;
}

// Why nothing can be recorded; empty: it can.
std::string obstacle(const TraceOptions& options) {
  for (const std::string_view variable : backend::injection_variables()) {
    const char* value = std::getenv(std::string(variable).c_str());
    if (options.replace || value == nullptr || *value == '\0') continue;
    return fmt::format("{} names {}, another tool that would be loaded. Unset it, or use --replace",
                       variable, value);
  }
  return "";
}

// The sessions fall to a lower engine by themselves, and say so in their logs; here it is said at
// once.
void tell_lower_engine(const TraceOptions& options) {
  const format::Capability choice =
      capture::choose_engine(options.engine, capture::everything_supported());
  if (choice.is_as_asked()) return;
  complain(kWho, fmt::format("{} {}: {}", options.pass ? "--passes" : "--engine", options.engine,
                             choice.detail));
}

// "pass 2 of 3, PcSampling"; empty where the program runs once.
std::string pass_text(const TraceOptions& options) {
  if (!options.pass) return "";
  return fmt::format("pass {} of {}, {}", *options.pass, options.passes.size(), options.engine);
}

// The one that says why the program was not started.
int exit_code_of(const base::Status& failure) {
  complain(kWho, failure.message());
  return failure.code() == base::Code::NotFound ? kExitNotFound : kExitCannotExecute;
}

class NoWatch final : public LaunchObserver {
 public:
  void before_signal(int, pid_t) override {}
  void tick() override {}
  void terminal_given() override {}
};

int run_unrecorded(const TraceOptions& options) {
  if (!options.quiet) {
    complain(kWho,
             "recording is turned off (GPUFL_DISABLED or GPUFL_ENABLED): the program runs "
             "unrecorded");
  }
  NoWatch nobody;
  const auto end = launch({options.command, inherited_environment()}, nobody);
  return end ? end->exit_code : exit_code_of(end.status());
}

// Shows how far the run is, and has its sessions put in order before a signal reaches them.
class RunWatch final : public LaunchObserver {
 public:
  // `what` is shown before the rest.
  RunWatch(fs::path folder, bool is_quiet, const std::string& what)
      : control_(std::move(folder)), line_(!is_quiet), what_(what.empty() ? "" : what + ", ") {}

  std::chrono::milliseconds pace() const { return line_.is_usable() ? kPace : 0ms; }
  void before_signal(int number, pid_t group) override {
    line_.remove();
    control_.prepare_for_signal(number, group);
  }
  void tick() override {
    const RunControl::Progress progress = control_.ask();
    const auto elapsed_ns = static_cast<double>(base::monotonic_ns() - start_ns_);
    const std::string recorded =
        progress.kernels ? text::count(*progress.kernels) + " kernels" : "no GPU work recorded";
    line_.show(fmt::format("gpufl: {}{}, {} {}, {}", what_, text::duration(elapsed_ns),
                           text::count(progress.processes),
                           progress.processes == 1 ? "process" : "processes", recorded));
  }
  void terminal_given() override { line_.remove(); }

 private:
  RunControl control_;
  StatusLine line_;
  const std::string what_;
  const int64_t start_ns_ = base::monotonic_ns();
};

// What may explain that a run has left nothing.
std::string circumstance_of(const TraceOptions& options, const fs::path& folder, int64_t start_ns) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return "its folder was removed while it ran";
  const backend::OpenedBackends backends = backend::make_backends("auto");
  if (backends.list.empty()) {
    const backend::Availability& why = backends.refused.front().why;
    return why.reason == "library_not_found" ? "this machine has no NVIDIA driver" : why.detail;
  }
  if (!options.duration_ns) return "";
  const int64_t recorded_ns = options.delay_ns.value_or(0) + *options.duration_ns;
  if (base::monotonic_ns() - start_ns > recorded_ns) {
    return "the time to record (--duration) ended before the program did";
  }
  return "";
}

// In one sentence; the session that stands in for those that are missing says more.
void tell_nothing_recorded(const fs::path& folder, const std::string& circumstance) {
  complain(kWho, fmt::format("nothing was recorded: {}. For details: gpufl report {}",
                             circumstance.empty()
                                 ? "the program did not use CUDA where gpufl could see it"
                                 : circumstance,
                             folder.string()));
}

void symbolize(const fs::path& folder) {
  symbols::SymbolizeOptions options;
  options.libdw = libdw();
  const base::Status status =
      workbench::symbolize(folder, options, [](const fs::path& session, const auto& outcome) {
        if (outcome) {
          complain_of_no_libdw(kWho, *outcome);
        } else {
          complain(kWho, session.string() + ": " + outcome.status().message());
        }
      });
  if (!status) complain(kWho, status.message());
}

// Of all sessions, or those of one pass.
void print_summary(const fs::path& folder, const TraceOptions& options) {
  const workbench::RunSummary run = workbench::summarize_run(folder, options.pass);
  for (const std::string& problem : run.problems) complain(kWho, problem);
  if (run.sessions.empty()) return;
  report::TextOptions text;
  text.width = page_width(STDERR_FILENO);
  text.has_color = terminal_has_color(STDERR_FILENO);
  print_error("\n" + report::run_report(run.sessions, text));
  const auto live = std::count_if(run.sessions.begin(), run.sessions.end(),
                                  [](const auto& session) { return session.live; });
  if (live > 0) print_error(fmt::format("{} of its processes still record.\n", live));
}

// Where the sessions go, and what records them.
struct RunPlace {
  fs::path library, folder;  // the folder is named after the run's id
};

void record_absence(const TraceOptions& options, const fs::path& folder, const LaunchEnd& end,
                    const base::ClockAnchor& start) {
  const std::string circumstance = circumstance_of(options, folder, start.monotonic_ns);
  LaunchedProgram program{options.name.empty() ? options.command.front() : options.name,
                          options.command,
                          end.pid,
                          start.wall_ns,
                          start.monotonic_ns,
                          end.exit_code,
                          options.engine,
                          circumstance,
                          options.warnings};
  program.pass = options.pass;
  if (options.pass) program.passes = options.passes;
  if (const base::Status status = record_absent_sessions(folder, program); !status) {
    complain(kWho, status.message());
  }
  if (!options.quiet) tell_nothing_recorded(folder, circumstance);
}

struct Recorded {
  LaunchEnd end;
  bool has_sessions = false;  // of its own: none stands in for them
};

// Runs the program once, with options.engine.
base::Result<Recorded> record(const TraceOptions& options, const RunPlace& place) {
  if (!options.quiet) tell_lower_engine(options);
  const base::ClockAnchor now = base::read_clock_anchor();
  const size_t sessions_before = format::find_sessions(place.folder).size();
  RunWatch watch(place.folder, options.quiet, pass_text(options));
  const Launch plan{options.command,
                    options.environment(inherited_environment(), place.library,
                                        place.folder.filename().string(), now.monotonic_ns),
                    watch.pace()};
  const auto end = launch(plan, watch);
  watch.terminal_given();
  if (!end) return end.status();
  const bool has_sessions = format::find_sessions(place.folder).size() > sessions_before;
  if (!has_sessions) record_absence(options, place.folder, *end, now);
  return Recorded{*end, has_sessions};
}

// The same with each engine of options.passes. The exit code is the first that is not 0: a pass
// that fails is followed by the others all the same.
base::Result<Recorded> record_passes(TraceOptions options, const RunPlace& place) {
  const size_t passes = options.passes.size();
  Recorded all;
  for (size_t i = 0; i < passes; ++i) {
    options.pass = static_cast<int64_t>(i + 1);
    options.engine = options.passes[i];
    if (!options.quiet) complain(kWho, pass_text(options));
    const auto recorded = record(options, place);
    if (!recorded && i == 0) return recorded.status();
    const int exit_code = recorded ? recorded->end.exit_code : exit_code_of(recorded.status());
    if (all.end.exit_code == 0) all.end.exit_code = exit_code;
    if (!recorded) break;
    if (recorded->has_sessions && !options.quiet) print_summary(place.folder, options);
    if (exit_code != 0 && !options.quiet) {
      complain(kWho,
               fmt::format("{}: the program's exit code is {}", pass_text(options), exit_code));
    }
    all.has_sessions |= recorded->has_sessions;
    if (i + 1 == passes || !(recorded->end.is_stopped || stop_came_late())) continue;
    if (!options.quiet) {
      complain(kWho, fmt::format("stopped: {} of {} passes did not run", passes - i - 1, passes));
    }
    break;
  }
  return all;
}

base::Result<int> trace(TraceOptions options) {
  InitOptions defaults;
  defaults.profiling_engine =
      options.has_deep_windows() ? ProfilingEngine::PcSampling : ProfilingEngine::Trace;
  // What applies where a variable is wrong.
  const auto given = options.given_variables();
  const auto given_value = [&](const char* name) {
    const auto found = given.find(name);
    return found != given.end() ? std::optional(found->second) : std::nullopt;
  };
  defaults = client::resolve_options({}, given_value, {}, defaults).options;
  client::ResolvedOptions inherited = client::resolve_options({}, capture::process_environment(),
                                                              client::variable_names(), defaults);
  if (inherited.is_disabled) return run_unrecorded(options);
  if (options.passes.empty() && options.engine.empty()) {
    auto passes = inherited_passes();
    if (!passes) {
      complain(kWho, passes.status().message());
      return kExitCannotTell;
    }
    options.passes = std::move(*passes);
  }
  if (options.engine.empty())
    options.engine = client::to_string(inherited.options.profiling_engine);
  options.warnings = std::move(inherited.warnings);
  if (options.has_deep_windows() && !capture::has_deep_windows(options.engine)) {
    return base::Status(base::Code::InvalidArgument,
                        "the engine " + options.engine +
                            " has nothing to attach in a deep window; use --engine with "
                            "PcSampling, SassMetrics, RangeProfiler or Deep");
  }
  if (const std::string why = obstacle(options); !why.empty()) {
    complain(kWho, why);
    return kExitCannotTell;
  }
  const auto library = find_inject_library();
  if (!library) {
    complain(kWho, library.status().message());
    return kExitCannotTell;
  }
  InitOptions names_folder;
  names_folder.log_path = options.output.string();
  options.output = client::log_root_of(names_folder);
  const RunPlace place{*library,
                       options.output / format::make_session_id(base::read_clock_anchor().wall_ns)};
  std::error_code error;
  fs::create_directories(place.folder, error);
  if (error) {
    complain(kWho, fmt::format("{}: {}", place.folder.string(), error.message()));
    return kExitCannotTell;
  }

  if (!options.quiet) {
    for (const client::OptionWarning& warning : options.warnings) {
      complain(kWho, warning.to_line());
    }
  }
  const bool is_one = options.passes.empty();
  const auto recorded = is_one ? record(options, place) : record_passes(options, place);
  if (!recorded) {
    fs::remove(place.folder, error);
    return exit_code_of(recorded.status());
  }
  if (recorded->has_sessions) {
    if (options.stacks && !options.no_symbols) symbolize(place.folder);
    if (!options.quiet) {
      if (is_one) print_summary(place.folder, options);
      print_error(
          fmt::format("\nNext: gpufl report {}\n", text::make_harmless(place.folder.string())));
    }
  }
  if (options.upload) upload_run(kWho, place.folder, options.redaction, options.quiet);
  return recorded->end.exit_code;
}

}  // namespace

void add_trace_command(Command program) {
  auto options = std::make_shared<TraceOptions>();
  Command command =
      program.add_command("trace", "Run a program and record what its processes do on the GPU");
  add_trace_options(command, *options);
  command.set_action([options] { return trace(*options); });
}

}  // namespace gpufl::cli
