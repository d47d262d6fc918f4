// SPDX-License-Identifier: Apache-2.0
#include "cli/open_command.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <gpufl/version.hpp>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/browser.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/progress_line.hpp"
#include "cli/serving.hpp"
#include "import/import_files.hpp"
#include "server/cache_folder.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using base::Status;

constexpr const char* kCommand = "gpufl open";

struct Options {
  ServeLine line;
  std::string what;
  uint64_t port = 0;
  bool no_browser = false;
};

// Another file in its place, or the same one written again, is another import.
std::string file_identity(const fs::path& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) return {};
  return fmt::format("gpufl {} {} {} {}.{}", GPUFL_VERSION, file.string(), info.st_size,
                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// What to serve, and that it stays while it is served.
struct Opened {
  fs::path folder;
  std::optional<server::FolderUse> use = {};
};

// What was imported from a file, now or before.
base::Result<Opened> import_once(const fs::path& file, const server::CacheFolder& cache) {
  std::error_code error;
  const fs::path source = fs::canonical(file, error);
  const fs::path imports = cache.subfolder("imports");
  const fs::path folder = imports / server::name_hash(file_identity(source));
  auto use = server::FolderUse::take(folder);
  if (use || fs::exists(folder, error)) return Opened{folder, std::move(use)};
  // Under another name until it is whole: a kill halfway leaves nothing that looks like it.
  std::string partial = (imports / "new-XXXXXX").string();
  if (::mkdtemp(partial.data()) == nullptr) return Status::from_errno(errno, partial);
  importing::ImportOptions how;
  how.files = {source};
  how.output = partial;
  how.gpufl_version = GPUFL_VERSION;
  importing::ImportOutcome outcome;
  {
    ProgressLine progress;
    how.progress = [&](const fs::path& from, uint64_t done, uint64_t total) {
      progress.show("importing " + from.filename().string(), done, total);
    };
    outcome = importing::import_files(how);
  }
  for (const std::string& warning : outcome.warnings) complain(kCommand, warning);
  if (outcome.sessions.empty()) {
    fs::remove_all(partial, error);
    return Status(base::Code::Corrupt, outcome.errors.empty() ? file.string() + ": nothing in it"
                                                              : outcome.errors.front());
  }
  fs::rename(partial, folder, error);
  // Another process may have been faster.
  if (error && !fs::exists(folder)) return Status(base::Code::IoError, folder.string());
  if (error) fs::remove_all(partial, error);
  Opened opened{folder, server::FolderUse::take(folder)};
  server::prune_folders(imports, server::kMostImportBytes);
  return opened;
}

base::Result<Opened> find_folder(const fs::path& what, const fs::path& cache_folder) {
  std::error_code error;
  if (!fs::is_regular_file(what, error)) {
    const auto sessions = workbench::session_folders(what);
    if (!sessions) return sessions.status();
    return Opened{what};
  }
  const auto cache = server::CacheFolder::open(cache_folder);
  if (!cache) return cache.status();
  return import_once(what, *cache);
}

void show(const server::Server& server, const fs::path& cache, bool no_browser) {
  const std::string address = server.session_address();
  print(fmt::format("GPUFlight on {}\n", address));
  if (is_over_ssh()) {
    print(fmt::format(
        "On the machine with your browser, run this and open the address there:\n  {}\n",
        ssh_line(server.endpoint().port)));
    return;
  }
  if (no_browser || open_in_browser(address, cache)) return;
  print("There is no browser to open here; open the address yourself.\n");
}

base::Result<int> run_open(const Options& options) {
  auto serving = serving_options(options.line);
  if (!serving) return serving.status();
  const auto opened = find_folder(options.what, serving->cache);
  if (!opened) {
    complain(kCommand, opened.status().message());
    return kExitCannotTell;
  }
  serving->folder = opened->folder;
  serving->listen = {"127.0.0.1", static_cast<uint16_t>(options.port)};
  const fs::path cache = serving->cache;
  return serve_until_stopped(kCommand,
                             folder_server(std::move(*serving), [&](const server::Server& server) {
                               show(server, cache, options.no_browser);
                             }));
}

}  // namespace

void add_open_command(Command program) {
  auto options = std::make_shared<Options>();
  Command command = program.add_command("open", "Show a session in a browser");
  command
      .add_option("what", options->what,
                  "A session, a log folder, or a trace that gpufl import reads, which is imported "
                  "into the cache first")
      .required();
  command.add_option("--port", options->port, "Port on loopback; 0: any free port")
      .range(0, 65535)
      .type_name("N")
      .show_default();
  command.add_flag("--no-browser", options->no_browser, "Print the address only");
  add_serving_options(command, options->line);
  command.set_footer(
      "Starts a server on loopback, as gpufl serve does, and opens its address. Over SSH it prints "
      "the address and the ssh -L command that forwards the port. Ctrl-C stops the server.\nExit "
      "code: 0 stopped by a signal; 2 there is no session, the trace cannot be imported, or the "
      "port is in use.");
  command.set_action([options] { return run_open(*options); });
}

}  // namespace gpufl::cli
