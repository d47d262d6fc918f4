// SPDX-License-Identifier: Apache-2.0
#include "cli/symbolize_command.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/libdw.hpp"
#include "cli/print.hpp"
#include "cli/source_options.hpp"
#include "text/display.hpp"
#include "text/units.hpp"
#include "workbench/symbolize.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using symbols::BinaryNote;
using symbols::SymbolizeOutcome;

constexpr const char* kCommand = "gpufl symbolize";

std::string describe(const fs::path& session, const SymbolizeOutcome& outcome) {
  using text::count;
  std::string out = text::make_harmless(session.string()) + "\n";
  const auto line = std::back_inserter(out);
  if (outcome.frames == 0) {
    fmt::format_to(line,
                   "  no native frames: stacks were not recorded, or contain only Python "
                   "frames\n");
  } else {
    fmt::format_to(line, "  {} native frames in {} binaries: {} named, {} with a line\n",
                   text::count(outcome.frames), text::count(outcome.symbols.binaries.size()),
                   text::count(outcome.resolved), text::count(outcome.with_lines));
  }
  const auto& sources = outcome.sources;
  if (!outcome.symbols.sources.empty() || sources.missing + sources.beyond > 0) {
    fmt::format_to(line, "  source text of {} places kept, {}",
                   text::count(outcome.symbols.sources.size()),
                   text::bytes(static_cast<double>(sources.bytes)));
    if (sources.missing > 0) {
      fmt::format_to(line, "; {} files do not exist", text::count(sources.missing));
    }
    if (sources.beyond > 0) {
      fmt::format_to(line, "; {} files beyond the limit", text::count(sources.beyond));
    }
    out += '\n';
  }
  for (const BinaryNote* binary : workbench::unnamed_binaries(outcome)) {
    fmt::format_to(line, "  {}: {} ({} frames without a name)\n", text::make_harmless(binary->path),
                   text::make_harmless(binary->state), text::count(binary->frames));
  }
  return out;
}

int symbolize(const std::vector<std::string>& paths, const symbols::SymbolizeOptions& options) {
  int worst = kExitGood;
  for (const std::string& path : paths) {
    const base::Status status = workbench::symbolize(
        path, options, [&](const fs::path& session, const base::Result<SymbolizeOutcome>& outcome) {
          if (!outcome) {
            complain(kCommand, session.string() + ": " + outcome.status().message());
            worst = kExitCannotTell;
            return;
          }
          print(describe(session, *outcome));
          const bool is_unread = complain_of_no_libdw(kCommand, *outcome);
          if (is_unread || !workbench::is_program_named(*outcome)) {
            worst = std::max(worst, kExitNo);
          }
        });
    if (status) continue;
    complain(kCommand, status.message());
    worst = kExitCannotTell;
  }
  return worst;
}

}  // namespace

void add_symbolize_command(Command program) {
  struct Options {
    std::vector<std::string> sessions;
    std::vector<std::string> debug_dirs;
    SourceLine source;
  };
  auto options = std::make_shared<Options>();
  Command command = program.add_command(
      "symbolize", "Name the native frames of recorded stacks, with files and lines");
  command.add_option("session", options->sessions, "Sessions, runs or log folders").required();
  command
      .add_option("--debug-dir", options->debug_dirs,
                  "Also look here for programs, libraries and their debug files: by build id, by "
                  "recorded path below it, by name. Can be repeated")
      .type_name("DIR")
      .one_value();
  add_source_options(command, options->source);
  command.set_footer(
      "Writes symbols.ndjson into each session's folder. You can delete it and create it again as "
      "long as the binaries exist. Only binaries with the recorded build id are used.\nExit code: "
      "0 all frames of the program's own binaries have names; 1 some have no name; 2 there is no "
      "session, or one cannot be read or written.");
  command.set_action([options] {
    symbols::SymbolizeOptions how;
    how.libdw = libdw();
    how.debug_dirs.assign(options->debug_dirs.begin(), options->debug_dirs.end());
    how.sources = options->source.options();
    return symbolize(options->sessions, how);
  });
}

}  // namespace gpufl::cli
