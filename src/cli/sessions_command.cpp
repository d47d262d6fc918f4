// SPDX-License-Identifier: Apache-2.0
#include "cli/sessions_command.hpp"

#include <memory>
#include <system_error>
#include <utility>

namespace gpufl::cli {

namespace fs = std::filesystem;

CLI::App* add_sessions_command(CLI::App& app, const std::string& name,
                               const std::string& description, int& exit_code,
                               std::function<int(const std::string& path, bool json)> run) {
  struct Options {
    std::string path;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("path", options->path, "A session, a run or a whole log folder")->required();
  command->add_flag("--json", options->json, "Print a JSON array, one object per session");
  command->callback([options, run = std::move(run), &exit_code] {
    exit_code = run(options->path, options->json);
  });
  return command;
}

std::string why_no_session(const fs::path& path) {
  std::error_code error;
  fs::directory_iterator entries(path, error);
  std::string reason = "there is no session in it";
  if (error == std::errc::no_such_file_or_directory) reason = "there is no such file or folder";
  if (error == std::errc::permission_denied) reason = "Permission denied";
  return path.string() + ": " + reason;
}

}  // namespace gpufl::cli
