// SPDX-License-Identifier: Apache-2.0
#include "cli/clean_command.hpp"

#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "format/session_files.hpp"
#include "text/units.hpp"
#include "workbench/cleanup.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommand = "gpufl clean";

void list(std::string_view what, const std::vector<fs::path>& sessions) {
  for (const fs::path& dir : sessions) {
    print(std::string(what) + text::make_harmless(dir.string()) + "\n");
  }
}

struct CleanLine {
  std::string folder = workbench::kDefaultLogs;
  std::optional<int64_t> older_than_ns;
  workbench::CleanupChoice choice;
  bool dry_run = false;
  bool yes = false;
};

std::string amount(const workbench::Cleanup& cleanup) {
  const uint64_t count = cleanup.deleted.size() + cleanup.emptied.size();
  return text::count(count) + (count == 1 ? " session, " : " sessions, ") +
         text::bytes(static_cast<double>(cleanup.bytes));
}

void list_planned(const workbench::Cleanup& plan) {
  list("would delete ", plan.deleted);
  list("would delete, except for other files in it: ", plan.emptied);
}

// What was kept; the exit code.
int list_kept(const workbench::Cleanup& cleanup) {
  int code = kExitGood;
  for (const fs::path& dir : cleanup.kept) {
    if (format::is_locked(dir)) {
      list("kept, because it is being written: ", {dir});
    } else {
      complain(kCommand, dir.string() + ": kept, because it cannot be read or deleted");
      code = kExitNo;
    }
  }
  return code;
}

// A line from the terminal; what is not "y" or "yes" is a no.
bool is_confirmed(const std::string& question) {
  print_error(question + " [y/N] ");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes" || answer == "Yes";
}

int clean(CleanLine line) {
  workbench::CleanupChoice& choice = line.choice;
  if (line.older_than_ns) {
    choice.began_before_ns = base::read_clock_anchor().wall_ns - *line.older_than_ns;
  }
  if (const auto any = workbench::session_folders(line.folder); !any) {
    complain(kCommand, any.status().message());
    return kExitCannotTell;
  }
  const workbench::Cleanup plan = workbench::delete_sessions(line.folder, true, choice);
  choice.only = plan.deleted;
  choice.only->insert(choice.only->end(), plan.emptied.begin(), plan.emptied.end());
  const bool is_nothing = choice.only->empty();
  if (line.dry_run || is_nothing) {
    list_planned(plan);
    const int code = list_kept(plan);
    print(is_nothing ? "nothing to delete\n" : amount(plan) + " would be freed\n");
    return code;
  }
  if (!line.yes) {
    list_planned(plan);
    if (isatty(STDIN_FILENO) == 0) {
      complain(kCommand, "nothing was deleted: there is no terminal to ask on; add --yes");
      return kExitUsage;
    }
    std::fflush(stdout);
    if (!is_confirmed("Delete " + amount(plan) + "?")) {
      print("nothing was deleted\n");
      return kExitNo;
    }
  }
  workbench::Cleanup done = workbench::delete_sessions(line.folder, false, choice);
  list("deleted ", done.deleted);
  list("deleted, except for other files in it: ", done.emptied);
  done.kept.insert(done.kept.end(), plan.kept.begin(), plan.kept.end());
  const int code = list_kept(done);
  print(amount(done) + " freed\n");
  return code;
}

}  // namespace

void add_clean_command(Command program) {
  auto line = std::make_shared<CleanLine>();
  Command command = program.add_command("clean", "Delete the sessions in a folder");
  command.add_option("folder", line->folder, "A log folder, a run or a session").show_default();
  command.add_flag("-n,--dry-run", line->dry_run, "Only show what would be deleted");
  command.add_flag("-y,--yes", line->yes, "Do not ask first");
  command.add_duration("--older-than", {}, "Only sessions that began longer ago than this",
                       store_in(line->older_than_ns));
  command
      .add_option("--keep", line->choice.keep,
                  "Keep the newest N that recorded something; the sessions of one run count as one")
      .count();
  command.set_footer(
      "Lists what it would delete and asks, unless --yes is given. Sessions that are being "
      "written stay, and so does every file that is not a session's own.\nExit code: 0 done; 1 "
      "the answer was no, or a session could not be read or deleted, and stays; 2 there is no "
      "session; 64 it could not ask.");
  command.set_action([line] { return clean(*line); });
}

}  // namespace gpufl::cli
