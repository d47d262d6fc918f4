// SPDX-License-Identifier: Apache-2.0
#include "cli/sessions_list_command.hpp"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "analysis/session/passes.hpp"
#include "base/json.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "text/display.hpp"
#include "text/units.hpp"
#include "workbench/find_sessions.hpp"
#include "workbench/list_sessions.hpp"

namespace gpufl::cli {
namespace {

using workbench::ListedSession;

constexpr const char* kCommand = "gpufl sessions";

std::string or_unknown(const std::string& text) { return text.empty() ? "?" : text; }

std::string duration_of(const ListedSession& session) {
  if (!session.duration_ns) return "?";
  return (session.has_end ? "" : ">= ") + text::duration(static_cast<double>(*session.duration_ns));
}

// "Trace", or "Trace 1/3" of a pass.
std::string engine_of(const format::SessionHeader& header) {
  std::string engine = text::make_harmless(or_unknown(header.engine));
  if (!analysis::is_pass(header)) return engine;
  return fmt::format("{} {}/{}", engine, *header.pass, header.passes.size());
}

std::string describe(const std::vector<ListedSession>& sessions) {
  std::string out;
  const auto line = std::back_inserter(out);
  constexpr auto kLine = "{:<20} {:<20.20} {:<15.15} {:>11} {:>13} {:<10} {:>10}  {}\n";
  fmt::format_to(line, fmt::runtime(kLine), "STARTED (UTC)", "APP", "ENGINE", "DURATION", "KERNELS",
                 "STATE", "SIZE", "SESSION");
  for (const ListedSession& session : sessions) {
    const format::SessionHeader& header = session.found.header;
    // To the second: "2026-11-15 03:45:12".
    const std::string started =
        header.start_wall_ns > 0 ? text::utc(header.start_wall_ns).substr(0, 19) : "?";
    fmt::format_to(line, fmt::runtime(kLine), started,
                   text::make_harmless(or_unknown(header.app_name)), engine_of(header),
                   duration_of(session), session.kernels ? text::count(*session.kernels) : "-",
                   session.state, text::bytes(static_cast<double>(session.bytes)),
                   text::make_harmless(session.found.dir.string()));
  }
  return out;
}

int list(const std::string& path, bool json) {
  const std::vector<ListedSession> sessions = workbench::list_sessions(path);
  if (sessions.empty()) {
    complain(kCommand, workbench::no_session(path).message());
    return kExitCannotTell;
  }
  base::Json all = base::Json::array();
  for (const ListedSession& session : sessions) all.push(session.to_json());
  print(json ? all.dump() + '\n' : describe(sessions));
  int code = kExitGood;
  for (const ListedSession& session : sessions) {
    if (!session.damage.empty()) {
      complain(kCommand, session.found.dir.string() + ": " + session.damage);
    }
    if (session.found.is_readable()) continue;
    complain(kCommand, session.found.problem());
    code = kExitCannotTell;
  }
  return code;
}

}  // namespace

void add_sessions_list_command(Command program) {
  struct Options {
    std::string path = workbench::kDefaultLogs;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Command command = program.add_command("sessions", "List the sessions in a folder, newest first");
  command.add_option("folder", options->path, "A log folder, a run or a session").show_default();
  command.add_flag("--json", options->json, "Print a JSON array, one object per session");
  command.set_footer(
      "DURATION: >= of a session without an end; it lasted at least until its last sign of life.\n"
      "ENGINE: Trace 1/3 is the first of three passes of a run (gpufl trace --passes).\n"
      "KERNELS: - means that they were not recorded, or may all have been lost (null in "
      "JSON).\nStates: live: being written. complete: ended, and nothing is known to be missing "
      "(gpufl verify reads everything and proves it). not proven: the same, but launches were not "
      "counted. losses: records were lost. damaged: a file or the manifest is missing or too "
      "short. "
      "cut off: the process ended first (killed, crashed, or left through _exit).\nExit code: 0 "
      "listed; 2 there is no session, or one cannot be read.");
  command.set_action([options] { return list(options->path, options->json); });
}

}  // namespace gpufl::cli
