// SPDX-License-Identifier: Apache-2.0
#include "cli/cat_command.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/libdw.hpp"
#include "cli/print.hpp"
#include "text/display.hpp"
#include "workbench/find_sessions.hpp"
#include "workbench/log_contents.hpp"
#include "workbench/rows.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using format::Kind;

constexpr const char* kCommand = "gpufl cat";

// The folder of the one session that is meant; none: it was said why.
std::optional<fs::path> the_one(const std::string& path, int& exit_code) {
  const auto sessions = workbench::session_folders(path);
  if (!sessions) {
    complain(kCommand, sessions.status().message());
    exit_code = kExitCannotTell;
    return {};
  }
  if (sessions->size() == 1) return sessions->front();
  complain(kCommand,
           fmt::format("{} contains {} sessions; name one of them:", path, sessions->size()));
  for (const fs::path& session : *sessions) {
    print_error(fmt::format("  {}\n", text::make_harmless(session.string())));
  }
  exit_code = kExitUsage;
  return {};
}

int list_kinds(const fs::path& session) {
  const auto contents = workbench::read_contents(session);
  if (!contents) {
    complain(kCommand, contents.status().message());
    return kExitCannotTell;
  }
  for (const auto& [kind, rows] : contents->kinds)
    print(fmt::format("{:<15} {:>12}\n", kind, rows));
  return kExitGood;
}

int print_rows(const workbench::RowsRequest& request) {
  // Whoever reads may have seen enough (head, a pager): then there is nothing left to do.
  const auto problems = workbench::read_rows(
      request, [](std::string_view lines) { return print(lines) && std::fflush(stdout) == 0; });
  if (!problems) {
    complain(kCommand, problems.status().message());
    return kExitCannotTell;
  }
  if (*problems > 0) {
    complain(kCommand, fmt::format("problems while reading: {}, see gpufl verify {}", *problems,
                                   request.session.string()));
  }
  return kExitGood;
}

std::vector<std::string> all_kinds() {
  std::vector<std::string> names;
  for (size_t i = 0; i < format::kKindCount; ++i) {
    names.emplace_back(format::spec(static_cast<Kind>(i)).name);
  }
  return names;
}

int cat(const std::string& path, const std::string& kind_name, workbench::RowsRequest request) {
  const format::KindSpec* kind = format::find_kind(kind_name);
  int exit_code = kExitGood;
  const auto session = the_one(path, exit_code);
  if (!session) return exit_code;
  if (kind == nullptr) return list_kinds(*session);
  request.session = *session;
  request.kind = kind->kind;
  request.libdw = libdw();
  return print_rows(request);
}

}  // namespace

void add_cat_command(Command program) {
  struct Options {
    std::string session, kind;
    workbench::RowsRequest rows;
  };
  auto options = std::make_shared<Options>();
  Command command =
      program.add_command("cat", "Print the events of one kind, one flat JSON object per line");
  command
      .add_option("session", options->session,
                  "A session, or a folder with one session in it (with several, cat names them)")
      .required();
  command
      .add_option("kind", options->kind,
                  "kernel, scope, device_metric, ...; omit it to list "
                  "the kinds")
      .choices(all_kinds());
  command.add_flag("--stacks", options->rows.whole_stacks,
                   "Print every frame of a stack, innermost first, not only the program's line");
  command.add_flag("--mangled", options->rows.mangled_names,
                   "Print names of kernels as the compiler wrote them");
  command.set_footer(
      "Times are nanoseconds since the start of the session. Dictionaries are resolved, launch "
      "configurations are expanded, and 64-bit ids are strings; \"at\" is the line of the program "
      "that a stack leads to.\nKinds: " +
      fmt::format("{}", fmt::join(all_kinds(), " ")));
  command.set_action([options] { return cat(options->session, options->kind, options->rows); });
}

}  // namespace gpufl::cli
