// SPDX-License-Identifier: Apache-2.0
#include "cli/run_record.hpp"

#include <gpufl/version.hpp>

#include "base/clock.hpp"
#include "capture/identity.hpp"
#include "capture/session.hpp"
#include "format/capability.hpp"
#include "format/event_names.hpp"
#include "format/log_writer.hpp"

namespace gpufl::cli {
namespace {

constexpr const char* kEvent = format::kNoSessionLeft;
constexpr const char* kText =
    "no process of this run left a session: none initialised CUDA where it could be seen, or none "
    "could record";
constexpr const char* kHint =
    "if the program does use CUDA, check whether it clears its environment or is set-user-ID, "
    "turns recording off (GPUFL_DISABLED), and can write to this folder; `gpufl doctor` checks "
    "the machine";

format::SessionHeader describe(const std::filesystem::path& folder,
                               const LaunchedProgram& program) {
  format::SessionHeader header = capture::describe_process(program.start_wall_ns);
  header.run_id = folder.filename().string();
  header.app_name = program.name;
  header.gpufl_version = GPUFL_VERSION;
  header.engine = "Monitor";
  header.backend = "none";
  header.start_wall_ns = program.start_wall_ns;
  header.start_monotonic_ns = program.start_monotonic_ns;
  header.pass = program.pass;
  header.passes = program.passes;
  header.pid = program.pid;
  header.process = std::filesystem::path(program.command.front()).filename().string();
  header.command.clear();
  for (const std::string& word : program.command) {
    header.command += (header.command.empty() ? "" : " ") + word;
  }
  return header;
}

}  // namespace

base::Status record_absent_sessions(const std::filesystem::path& folder,
                                    const LaunchedProgram& program) {
  const format::SessionHeader header = describe(folder, program);
  format::LogOptions options;
  options.session_dir = folder / header.session_id;
  auto log = format::LogWriter::create(options, header);
  if (!log) return log.status();
  std::string text = kText;
  if (!program.circumstance.empty()) text += "; " + program.circumstance;
  if (program.engine != header.engine) {
    const format::Capability engine{
        "profiling_engine", program.engine, header.engine, kEvent, text, kHint, {}};
    (*log)->write(format::Kind::Capability, engine.to_json());
  }
  for (const client::OptionWarning& warning : program.warnings) {
    (*log)->write(format::Kind::Event, warning.to_event().set("time", 0));
  }
  const int64_t end_ns = base::monotonic_ns() - program.start_monotonic_ns;
  base::Json event = base::Json::object();
  event.set("time", end_ns).set("name", kEvent).set("text", text).set("hint", kHint);
  event.set("exit_code", program.exit_code);
  (*log)->write(format::Kind::Event, event);
  // That the program launched nothing is not known: there is no count of launches.
  format::Ledger ledger;
  ledger.kernel_records = 0;
  return (*log)->close(end_ns, ledger);
}

}  // namespace gpufl::cli
