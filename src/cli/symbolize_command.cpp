// SPDX-License-Identifier: Apache-2.0
#include "cli/symbolize_command.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/sessions_command.hpp"
#include "format/session_reader.hpp"
#include "symbols/code_stack.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using symbols::BinaryNote;
using symbols::SymbolizeOutcome;

bool is_own(const BinaryNote& binary) {
  return symbols::origin_of_native(binary.path, {}) == symbols::Origin::User;
}

// The program's own first, then by what is missing.
std::vector<const BinaryNote*> unnamed_binaries(const SymbolizeOutcome& outcome) {
  std::vector<const BinaryNote*> found;
  for (const BinaryNote& binary : outcome.symbols.binaries) {
    if (binary.resolved == 0) found.push_back(&binary);
  }
  std::sort(found.begin(), found.end(), [](const BinaryNote* a, const BinaryNote* b) {
    return std::tuple(is_own(*a), a->frames, b->path) > std::tuple(is_own(*b), b->frames, a->path);
  });
  return found;
}

std::string describe(const fs::path& session, const SymbolizeOutcome& outcome) {
  using text::count;
  std::string out = text::make_harmless(session.string()) + "\n";
  const auto line = std::back_inserter(out);
  if (outcome.frames == 0) {
    fmt::format_to(line, "  no native frames: stacks were not recorded, or are Python's alone\n");
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
      fmt::format_to(line, "; {} files are not there", text::count(sources.missing));
    }
    if (sources.beyond > 0) {
      fmt::format_to(line, "; {} files beyond the limit", text::count(sources.beyond));
    }
    out += '\n';
  }
  for (const BinaryNote* binary : unnamed_binaries(outcome)) {
    fmt::format_to(line, "  {}: {} ({} frames without a name)\n", text::make_harmless(binary->path),
                   text::make_harmless(binary->state), text::count(binary->frames));
  }
  return out;
}

bool is_program_named(const SymbolizeOutcome& outcome) {
  return std::none_of(
      outcome.symbols.binaries.begin(), outcome.symbols.binaries.end(),
      [](const BinaryNote& binary) { return is_own(binary) && binary.resolved < binary.frames; });
}

int symbolize(const std::vector<std::string>& paths, const symbols::SymbolizeOptions& options) {
  int worst = kExitGood;
  for (const std::string& path : paths) {
    const auto sessions = format::find_sessions(path);
    if (sessions.empty()) {
      complain("gpufl symbolize", why_no_session(path));
      worst = kExitCannotTell;
    }
    for (const fs::path& session : sessions) {
      const auto outcome = symbols::symbolize_session(session, options);
      if (!outcome) {
        complain("gpufl symbolize",
                 fmt::format("{}: {}", session.string(), outcome.status().message()));
        worst = kExitCannotTell;
        continue;
      }
      print(describe(session, *outcome));
      if (!is_program_named(*outcome)) worst = std::max(worst, kExitNo);
    }
  }
  return worst;
}

}  // namespace

void add_symbolize_command(Command program) {
  struct Options {
    std::vector<std::string> sessions;
    std::vector<std::string> debug_dirs, source_roots, excluded_roots;
    uint64_t max_source_mb = symbols::SourceOptions{}.max_bytes >> 20;
  };
  auto options = std::make_shared<Options>();
  Command command = program.add_command(
      "symbolize", "Name the native frames of recorded stacks, with files and lines");
  command.add_option("session", options->sessions, "Sessions, runs or log folders").required();
  command
      .add_option("--debug-dir", options->debug_dirs,
                  "Also look here for programs, libraries and their debug files: by build id, by "
                  "recorded path below it, by name. Can be given again")
      .type_name("DIR")
      .one_value();
  command
      .add_option("--source-root", options->source_roots,
                  "Also look here for source files, by the ends of their paths. Can be given again")
      .type_name("DIR")
      .one_value();
  command
      .add_option("--exclude-root", options->excluded_roots,
                  "Keep no source text of files below DIR. Can be given again")
      .type_name("DIR")
      .one_value();
  command
      .add_option("--max-source-mb", options->max_source_mb,
                  "Most source text to keep for a session, in MiB; 0: none")
      .type_name("N")
      .range(0, 1024)
      .show_default();
  command.set_footer(
      "Writes symbols.ndjson into each session's folder; deleting it loses nothing while the "
      "binaries are there. A binary counts only if its build id is the recorded one.\n"
      "Exit code: 0 all frames of the program's own binaries have names; 1 some have none; 2 there "
      "is no session, or one cannot be read or written.");
  command.set_action([options] {
    symbols::SymbolizeOptions how = symbolize_options();
    how.debug_dirs.assign(options->debug_dirs.begin(), options->debug_dirs.end());
    how.sources.roots.assign(options->source_roots.begin(), options->source_roots.end());
    how.sources.excluded_roots.assign(options->excluded_roots.begin(),
                                      options->excluded_roots.end());
    how.sources.max_bytes = options->max_source_mb << 20;
    how.sources.enabled = options->max_source_mb > 0;
    return symbolize(options->sessions, how);
  });
}

}  // namespace gpufl::cli
