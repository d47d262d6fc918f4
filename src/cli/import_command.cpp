// SPDX-License-Identifier: Apache-2.0
#include "cli/import_command.hpp"

#include <filesystem>
#include <gpufl/version.hpp>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/json.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/progress_line.hpp"
#include "import/import_files.hpp"
#include "import/warpscope_dump.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using base::Json;
using importing::ImportedSession;
using importing::ImportOutcome;

constexpr const char* kCommand = "gpufl import";

uint64_t rows_of(const ImportedSession& session, const char* kind) {
  const auto found = session.rows.find(kind);
  return found == session.rows.end() ? 0 : found->second;
}

std::string describe(const ImportedSession& session) {
  using text::count;
  std::string out = text::make_harmless(session.file.string()) + "\n";
  const auto line = std::back_inserter(out);
  std::string rows;
  for (const auto& [kind, name] :
       {std::pair("kernel", "kernels"), std::pair("memcpy", "copies"),
        std::pair("memset", "memsets"), std::pair("graph", "graphs"), std::pair("sync", "waits"),
        std::pair("memory", "allocations"), std::pair("api", "other API calls"),
        std::pair("scope", "scopes"), std::pair("marker", "markers"),
        std::pair("warp_span", "ranges of warp groups")}) {
    const uint64_t count = rows_of(session, kind);
    if (count > 0)
      rows += fmt::format("{}{} {}", rows.empty() ? "" : ", ", text::count(count), name);
  }
  fmt::format_to(line, "  {} over {}\n", rows,
                 text::duration(static_cast<double>(session.duration_ns)));
  std::string left;
  for (const auto& [kind, count] : session.not_imported) {
    left += fmt::format("{}{} {}", left.empty() ? "" : ", ", text::count(count),
                        text::make_harmless(kind));
  }
  if (!left.empty()) fmt::format_to(line, "  not imported: {}\n", left);
  if (session.impossible_times > 0) {
    fmt::format_to(line, "  left out because of impossible times: {}\n",
                   text::count(session.impossible_times));
  }
  if (!session.truncated.empty()) {
    fmt::format_to(line, "  imported in part: {}\n", text::make_harmless(session.truncated));
  }
  fmt::format_to(line, "  {}\n", text::make_harmless(session.dir.string()));
  return out;
}

Json to_json(const ImportedSession& session) {
  Json out = Json::object();
  out.set("file", session.file.string()).set("source", session.source);
  out.set("session", session.dir.string()).set("duration_ns", session.duration_ns);
  Json rows = Json::object();
  for (const auto& [kind, count] : session.rows) rows.set(kind, count);
  Json left = Json::object();
  for (const auto& [kind, count] : session.not_imported) left.set(kind, count);
  out.set("rows", std::move(rows)).set("not_imported", std::move(left));
  out.set("impossible_times", session.impossible_times);
  if (!session.truncated.empty()) out.set("truncated", session.truncated);
  return out;
}

int import(importing::ImportOptions options, bool json) {
  ImportOutcome outcome;
  {
    ProgressLine progress(!json);
    options.progress = [&](const fs::path& file, uint64_t done, uint64_t total) {
      progress.show("importing " + file.filename().string(), done, total);
    };
    outcome = importing::import_files(options);
  }
  bool is_whole = true;
  Json list = Json::array();
  for (const ImportedSession& session : outcome.sessions) {
    is_whole = is_whole && session.truncated.empty() && session.impossible_times == 0;
    if (json) {
      list.push(to_json(session));
    } else {
      print(describe(session));
    }
  }
  if (json) {
    print(list.dump() + '\n');
  } else if (!outcome.sessions.empty()) {
    const fs::path& next = outcome.run.empty() ? outcome.sessions.front().dir : outcome.run;
    print(fmt::format("Next: gpufl report {}\n", text::make_harmless(next.string())));
  }
  for (const std::string& warning : outcome.warnings) complain(kCommand, warning);
  for (const std::string& error : outcome.errors) complain(kCommand, error);
  if (!outcome.errors.empty()) return kExitCannotTell;
  return is_whole ? kExitGood : kExitNo;
}

}  // namespace

void add_import_command(Command program) {
  struct Options {
    std::vector<std::string> files;
    std::string output = "gpufl-logs", name, from;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Command command = program.add_command(
      "import", "Turn traces of torch.profiler, Nsight Systems or warpscope into sessions");
  command
      .add_option(
          "file", options->files,
          "Traces: torch.profiler's .json or .json.gz, the output of 'nsys export --type sqlite', "
          "or dumps of warpscope. Several files are the ranks of one job and become one run")
      .required();
  command.add_option("-o,--output", options->output, "Log folder for the sessions")
      .type_name("FOLDER")
      .show_default();
  command.add_option("--name", options->name, "Name of the program; by default, the file's name")
      .type_name("NAME");
  command
      .add_option("--from", options->from,
                  fmt::format("Source of dumps without a side block, which do not identify "
                              "themselves: {}",
                              fmt::join(importing::warpscope_sources(), ", ")))
      .type_name("SOURCE")
      .choices(importing::warpscope_sources());
  command.add_flag("--json", options->json, "Print a JSON array, one object per session");
  command.set_footer(
      "What a trace does not contain is unknown in the session, never zero.\nExit code: 0 "
      "imported; 1 imported, but a trace was cut off or had impossible times; 2 a file could not "
      "be imported, or the folder could not be written.");
  command.set_action([options] {
    importing::ImportOptions how;
    how.source = options->from;
    how.files.assign(options->files.begin(), options->files.end());
    how.output = options->output;
    how.app_name = options->name;
    how.gpufl_version = GPUFL_VERSION;
    return import(std::move(how), options->json);
  });
}

}  // namespace gpufl::cli
