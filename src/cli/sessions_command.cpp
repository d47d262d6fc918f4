// SPDX-License-Identifier: Apache-2.0
#include "cli/sessions_command.hpp"

#include <memory>
#include <utility>

#include "workbench/find_sessions.hpp"

namespace gpufl::cli {

Command add_sessions_command(Command program, const std::string& name,
                             const std::string& description,
                             std::function<int(const std::string& path, bool json)> run) {
  struct Options {
    std::string path = workbench::kDefaultLogs;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Command command = program.add_command(name, description);
  command.add_option("path", options->path, "A session, a run or a whole log folder")
      .show_default();
  command.add_flag("--json", options->json, "Print a JSON array, one object per session");
  command.set_action([options, run = std::move(run)] { return run(options->path, options->json); });
  return command;
}

}  // namespace gpufl::cli
