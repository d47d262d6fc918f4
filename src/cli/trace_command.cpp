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
  complain(kWho, fmt::format("--engine {}: {}", options.engine, choice.detail));
}

// The program's exit code, or the one that says why it was not started.
int exit_code_of(const base::Result<LaunchEnd>& end) {
  if (end) return end->exit_code;
  complain(kWho, end.status().message());
  return end.status().code() == base::Code::NotFound ? kExitNotFound : kExitCannotExecute;
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
  return exit_code_of(launch({options.command, inherited_environment()}, nobody));
}

// Shows how far the run is, and has its sessions put in order before a signal reaches them.
class RunWatch final : public LaunchObserver {
 public:
  RunWatch(fs::path folder, bool is_quiet) : control_(std::move(folder)), line_(!is_quiet) {}

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
    line_.show(fmt::format("gpufl: {}, {} {}, {}", text::duration(elapsed_ns),
                           text::count(progress.processes),
                           progress.processes == 1 ? "process" : "processes", recorded));
  }
  void terminal_given() override { line_.remove(); }

 private:
  RunControl control_;
  StatusLine line_;
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

void print_summary(const fs::path& folder) {
  const workbench::RunSummary run = workbench::summarize_run(folder);
  for (const std::string& problem : run.problems) complain(kWho, problem);
  if (run.sessions.empty()) return;
  report::TextOptions text;
  text.width = page_width(STDERR_FILENO);
  text.has_color = terminal_has_color(STDERR_FILENO);
  print_error("\n" + report::run_report(run.sessions, text));
  const auto live = std::count_if(run.sessions.begin(), run.sessions.end(),
                                  [](const auto& session) { return session.live; });
  if (live > 0) print_error(fmt::format("{} of its processes still record.\n", live));
  print_error(fmt::format("\nNext: gpufl report {}\n", text::make_harmless(folder.string())));
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
  if (options.engine.empty())
    options.engine = client::to_string(inherited.options.profiling_engine);
  options.warnings = std::move(inherited.warnings);
  const bool has_deeper =
      capture::takes_samples(options.engine) || capture::counts_instructions(options.engine);
  if (options.has_deep_windows() && !has_deeper) {
    return base::Status(base::Code::InvalidArgument,
                        "the engine " + options.engine +
                            " has nothing to attach in a deep window; use --engine with "
                            "PcSampling, SassMetrics or Deep");
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
  const base::ClockAnchor now = base::read_clock_anchor();
  const std::string run_id = format::make_session_id(now.wall_ns);
  InitOptions names_folder;
  names_folder.log_path = options.output.string();
  options.output = client::log_root_of(names_folder);
  const fs::path folder = options.output / run_id;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    complain(kWho, fmt::format("{}: {}", folder.string(), error.message()));
    return kExitCannotTell;
  }

  if (!options.quiet) {
    for (const client::OptionWarning& warning : options.warnings) {
      complain(kWho, warning.to_line());
    }
    tell_lower_engine(options);
  }
  RunWatch watch(folder, options.quiet);
  const Launch plan{
      options.command,
      options.environment(inherited_environment(), *library, run_id, now.monotonic_ns),
      watch.pace()};
  const auto end = launch(plan, watch);
  watch.terminal_given();
  if (!end) {
    fs::remove(folder, error);
    return exit_code_of(end);
  }

  if (format::find_sessions(folder).empty()) {
    const std::string circumstance = circumstance_of(options, folder, now.monotonic_ns);
    const LaunchedProgram program{options.name.empty() ? options.command.front() : options.name,
                                  options.command,
                                  end->pid,
                                  now.wall_ns,
                                  now.monotonic_ns,
                                  end->exit_code,
                                  options.engine,
                                  circumstance,
                                  options.warnings};
    if (const base::Status status = record_absent_sessions(folder, program); !status) {
      complain(kWho, status.message());
    }
    if (!options.quiet) tell_nothing_recorded(folder, circumstance);
  } else {
    if (options.stacks && !options.no_symbols) symbolize(folder);
    if (!options.quiet) print_summary(folder);
  }
  if (options.upload) upload_run(kWho, folder, options.redaction, options.quiet);
  return end->exit_code;
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
