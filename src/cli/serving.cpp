// SPDX-License-Identifier: Apache-2.0
#include "cli/serving.hpp"

#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/stop_signals.hpp"
#include "server/cache_folder.hpp"

namespace gpufl::cli {
namespace {

// Beside the network and handlers; a second one only where there are cores to spare.
constexpr unsigned kCoresForTwo = 4;
constexpr int kMappedBytes = 256 * 1024;

}  // namespace

void add_serving_options(Command command, ServeLine& line) {
  command
      .add_bytes("--analysis-memory", {.least = "16M"},
                 "Memory limit of each analysis process; of larger sessions, the end that fits is "
                 "analysed",
                 store_in(line.analysis_memory))
      .default_text("2G");
  command
      .add_option("--cache", line.cache,
                  "Folder for results, indexes, notes and tags [default: $XDG_CACHE_HOME/gpufl or "
                  "~/.cache/gpufl]")
      .type_name("DIR");
  command
      .add_option("--log-format", line.log_format,
                  "Log every request to stderr, as text or json [default: requests are not logged]")
      .choices({"text", "json"})
      .type_name("FORMAT");
}

base::Result<server::ServerOptions> serving_options(const ServeLine& line) {
  server::ServerOptions options;
  if (line.cache.empty()) {
    auto cache = server::default_cache();
    if (!cache) return cache.status();
    options.cache = std::move(*cache);
  } else {
    options.cache = line.cache;
  }
  options.analysis.memory_bytes = line.analysis_memory;
  options.analysis.at_once = std::thread::hardware_concurrency() >= kCoresForTwo ? 2 : 1;
  if (line.log_format == "text") options.log = server::LogFormat::Text;
  if (line.log_format == "json") options.log = server::LogFormat::Json;
  options.write_log = [](std::string_view text) { print_error(text); };
  return options;
}

StartServer folder_server(server::ServerOptions options,
                          std::function<void(const server::Server& server)> on_start) {
  return [options = std::move(options),
          on_start = std::move(on_start)]() -> base::Result<std::unique_ptr<server::WebServer>> {
    auto server = server::Server::start(options);
    if (!server) return server.status();
    on_start(**server);
    return std::unique_ptr<server::WebServer>(std::move(*server));
  };
}

int serve_until_stopped(std::string_view command, const StartServer& start) {
  StopSignals signals;
  // Large answers go back to the system when they were sent, whatever thread made them.
  ::mallopt(M_MMAP_THRESHOLD, kMappedBytes);
  ::mallopt(M_TRIM_THRESHOLD, kMappedBytes);
  ::mallopt(M_ARENA_MAX, 2);
  auto server = start();
  if (!server) {
    complain(command, server.status().message());
    return server.status().code() == base::Code::InvalidArgument ? kExitUsage : kExitCannotTell;
  }
  std::fflush(stdout);
  for (int number = 0; number == 0 || number == SIGWINCH;) {
    pollfd waiting{signals.fd(), POLLIN, 0};
    ::poll(&waiting, 1, -1);
    number = signals.take();
  }
  // Who sends another does not want to wait for requests under way.
  signals.release();
  const size_t left = (*server)->stop();
  if (left == 0) return kExitGood;
  // They have been told, and may take minutes. What they hold is given back by the system.
  complain(command, fmt::format("stopped, but {} still at work; ending without waiting",
                                left == 1 ? "1 request is" : fmt::format("{} requests are", left)));
  std::fflush(stdout);
  std::fflush(stderr);
  ::_exit(kExitGood);
}

}  // namespace gpufl::cli
