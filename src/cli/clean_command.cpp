// SPDX-License-Identifier: Apache-2.0
#include "cli/clean_command.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

int clean(const std::string& folder, bool dry_run) {
  const workbench::Cleanup done = workbench::delete_sessions(folder, dry_run);
  if (done.deleted.empty() && done.emptied.empty() && done.kept.empty()) {
    complain(kCommand, workbench::no_session(folder).message());
    return kExitCannotTell;
  }
  list(dry_run ? "would delete " : "deleted ", done.deleted);
  list(dry_run ? "would empty, there are other files in it: "
               : "emptied, there are other files in it: ",
       done.emptied);
  int code = kExitGood;
  for (const fs::path& dir : done.kept) {
    if (format::is_locked(dir)) {
      list("kept, it is being written: ", {dir});
    } else {
      complain(kCommand, dir.string() + ": kept, it cannot be read or not be deleted");
      code = kExitNo;
    }
  }
  const uint64_t count = done.deleted.size() + done.emptied.size();
  print(text::count(count) + (count == 1 ? " session, " : " sessions, ") +
        text::bytes(static_cast<double>(done.bytes)) +
        (dry_run ? " would be freed\n" : " freed\n"));
  return code;
}

}  // namespace

void add_clean_command(Command program) {
  struct Options {
    std::string folder;
    bool dry_run = false;
  };
  auto options = std::make_shared<Options>();
  Command command = program.add_command("clean", "Delete the sessions in a folder");
  command.add_option("folder", options->folder, "A log folder, a run or a session").required();
  command.add_flag("-n,--dry-run", options->dry_run, "Only say what would be deleted");
  command.set_footer(
      "Sessions that are being written stay, and so does every file that is not a session's own.\n"
      "Exit code: 0 done; 1 a session could not be read or deleted, and stays; 2 there is none.");
  command.set_action([options] { return clean(options->folder, options->dry_run); });
}

}  // namespace gpufl::cli
