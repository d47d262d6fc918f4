// SPDX-License-Identifier: Apache-2.0
#include "cli/sessions_command.hpp"

#include <array>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

namespace gpufl::cli {

namespace fs = std::filesystem;

Command add_sessions_command(Command program, const std::string& name,
                             const std::string& description,
                             std::function<int(const std::string& path, bool json)> run) {
  struct Options {
    std::string path;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Command command = program.add_command(name, description);
  command.add_option("path", options->path, "A session, a run or a whole log folder").required();
  command.add_flag("--json", options->json, "Print a JSON array, one object per session");
  command.set_action([options, run = std::move(run)] { return run(options->path, options->json); });
  return command;
}

namespace {

// Chrome JSON, as torch.profiler writes it, maybe compressed, or a database of Nsight Systems.
bool is_trace_of_another_tool(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 16> head{};
  file.read(head.data(), head.size());
  const std::string_view begin(head.data(), static_cast<size_t>(file.gcount()));
  const size_t first = begin.find_first_not_of(" \t\r\n");
  const bool is_json =
      first != std::string_view::npos && (begin[first] == '{' || begin[first] == '[');
  return (is_json && path.extension() != ".ndjson" && path.extension() != ".log") ||
         begin.starts_with("\x1f\x8b") || begin.starts_with("SQLite format 3");
}

}  // namespace

std::string why_no_session(const fs::path& path) {
  std::error_code error;
  fs::directory_iterator entries(path, error);
  std::string reason = "there is no session in it";
  if (error == std::errc::no_such_file_or_directory) reason = "there is no such file or folder";
  if (error == std::errc::permission_denied) reason = "Permission denied";
  if (error == std::errc::not_a_directory) {
    reason = "it is a file, and a session is a folder";
    if (is_trace_of_another_tool(path)) {
      reason = "it is no session but looks like a trace: gpufl import " + path.string() +
               " --output gpufl-logs makes a session of it";
    }
    if (path.extension() == ".nsys-rep") {
      reason = "it is no session but a report of Nsight Systems: nsys export --type sqlite " +
               path.string() + ", then gpufl import";
    }
  }
  return path.string() + ": " + reason;
}

}  // namespace gpufl::cli
