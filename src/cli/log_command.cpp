// SPDX-License-Identifier: Apache-2.0
#include "cli/log_command.hpp"

#include <string>

#include <fmt/format.h>

#include "base/json.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/sessions_command.hpp"
#include "text/display.hpp"
#include "workbench/find_sessions.hpp"
#include "workbench/log_contents.hpp"

namespace gpufl::cli {
namespace {

using workbench::LogContents;

constexpr const char* kCommand = "gpufl log";

std::string describe(const LogContents& contents) {
  std::string out = fmt::format("{}{}\n", text::make_harmless(contents.dir.string()),
                                contents.is_live ? " (being written)" : "");
  const auto line = std::back_inserter(out);
  fmt::format_to(line, "  {:<8} {:>6} {:<9} {:>12} {:>12} {:>10} {:>12} {:>14} {:>12}\n", "channel",
                 "window", "state", "first s", "last s", "lines", "rows", "raw bytes", "on disk");
  for (const workbench::WindowContents& window : contents.windows) {
    const format::WindowFile& file = window.file;
    const auto seconds = [&](int64_t ns) {
      return file.in_manifest ? fmt::format("{:.3f}", static_cast<double>(ns) / 1e9) : "-";
    };
    fmt::format_to(line, "  {:<8} {:>6} {:<9} {:>12} {:>12} {:>10} {:>12} {:>14} {:>12}\n",
                   to_string(file.channel), file.number, workbench::to_string(file.state),
                   seconds(file.first_ns), seconds(file.last_ns), window.lines, window.rows,
                   file.in_manifest ? std::to_string(file.raw_bytes) : "-", window.bytes);
  }
  fmt::format_to(line, "  {:<15} {:>12}\n", "kind", "rows");
  for (const auto& [kind, rows] : contents.kinds) {
    fmt::format_to(line, "  {:<15} {:>12}\n", kind, rows);
  }
  if (contents.problems > 0) {
    fmt::format_to(line, "  problems: {}, see gpufl verify\n", contents.problems);
  }
  return out;
}

int list(const std::string& path, bool json) {
  const auto sessions = workbench::session_folders(path);
  if (!sessions) {
    complain(kCommand, sessions.status().message());
    return kExitCannotTell;
  }
  int code = kExitGood;
  base::Json all = base::Json::array();
  for (const auto& dir : *sessions) {
    const auto contents = workbench::read_contents(dir);
    if (!contents) {
      complain(kCommand, fmt::format("{}: {}", dir.string(), contents.status().message()));
      code = kExitCannotTell;
      continue;
    }
    if (json) {
      all.push(contents->to_json());
    } else {
      print(describe(*contents));
    }
  }
  if (json) print(all.dump() + '\n');
  return code;
}

}  // namespace

void add_log_command(Command program) {
  add_sessions_command(program, "log", "List windows and record counts of sessions", list);
}

}  // namespace gpufl::cli
