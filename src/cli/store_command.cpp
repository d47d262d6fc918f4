// SPDX-License-Identifier: Apache-2.0
#include "cli/store_command.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "store/folder_lock.hpp"
#include "store/inspect.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

constexpr const char* kCommand = "gpufl store";

struct Options {
  std::string data, target, backup;
};

std::string sum_of(const store::Inspection& found) {
  return fmt::format("{} sessions, {} files, {}", found.sessions, found.blobs,
                     text::bytes(static_cast<double>(found.bytes)));
}

// Where no server has been, there is nothing to look at, and nothing is made.
base::Status expect_store(const Options& options) {
  std::error_code error;
  if (std::filesystem::exists(store::catalogue_file(options.data), error)) return {};
  return {base::Code::NotFound, options.data + ": there is no catalogue of a server"};
}

base::Result<int> run_check(const Options& options) {
  if (const auto there = expect_store(options); !there) {
    complain(kCommand, there.message());
    return kExitCannotTell;
  }
  const auto found = store::check_store(
      options.data, [](const std::string& line) { print(text::make_harmless(line) + "\n"); });
  if (!found) {
    complain(kCommand, found.status().message());
    return kExitCannotTell;
  }
  print(fmt::format("{}: {}\n", sum_of(*found),
                    found->problems == 0 ? "all of it as it was acknowledged"
                                         : fmt::format("{} problems", found->problems)));
  return found->problems == 0 ? kExitGood : kExitNo;
}

base::Result<int> run_backup(const Options& options) {
  ::umask(S_IRWXG | S_IRWXO);
  base::Status done = expect_store(options);
  if (done) {
    const auto made = store::copy_store(options.data, options.target);
    done = made.status();
    if (made) print(fmt::format("{} in {}\n", sum_of(*made), options.target));
  }
  if (done) return kExitGood;
  complain(kCommand, done.message());
  return kExitCannotTell;
}

base::Result<int> run_restore(const Options& options) {
  ::umask(S_IRWXG | S_IRWXO);
  base::Status done;
  std::error_code error;
  if (!std::filesystem::exists(store::catalogue_file(options.backup), error)) {
    done = {base::Code::NotFound, options.backup + ": there is no catalogue of a server"};
  }
  if (done) {
    const auto made = store::restore_store(
        options.backup, options.data,
        [](const std::string& line) { print(text::make_harmless(line) + "\n"); });
    done = made.status();
    if (made) print(fmt::format("{} in {}\n", sum_of(*made), options.data));
  }
  if (done) return kExitGood;
  complain(kCommand, done.message());
  return kExitCannotTell;
}

}  // namespace

void add_store_command(Command program) {
  auto options = std::make_shared<Options>();
  Command store =
      program.add_command("store", "Check, back up and restore the folder of gpufl serve --data");
  store.set_footer(
      "check and backup work while the server runs.\nExit code: 0 whole, or copied; 1 check found "
      "problems; 2 it could not be done.");
  const auto add_data = [options](Command verb) {
    verb.add_option("--data", options->data, "The folder of gpufl serve --data")
        .type_name("DIR")
        .required();
  };
  Command check =
      store.add_command("check", "Reads all of it, and compares it with what was acknowledged");
  add_data(check);
  check.set_action([options] { return run_check(*options); });
  Command backup =
      store.add_command("backup", "Copies all that was acknowledged before the command began");
  backup.add_option("target", options->target, "A folder that does not exist yet").required();
  add_data(backup);
  backup.set_action([options] { return run_backup(*options); });
  Command restore =
      store.add_command("restore", "Checks a backup and copies it to where a server can start");
  restore.add_option("backup", options->backup, "The folder that backup made").required();
  restore.add_option("--data", options->data, "A folder that does not exist yet")
      .type_name("DIR")
      .required();
  restore.set_action([options] { return run_restore(*options); });
}

}  // namespace gpufl::cli
