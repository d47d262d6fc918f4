// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "cli/command_line.hpp"
#include "server/server.hpp"
#include "server/web_server.hpp"

// What `gpufl serve` and `gpufl open` have in common: the options, and a server that runs until a
// signal ends it. Main thread, before any other starts.
namespace gpufl::cli {

// What was typed, before it is a server's options.
struct ServeLine {
  std::string cache;  // empty: the user's
  std::string log_format;
  uint64_t analysis_memory = uint64_t{2} << 30;
};
// --cache, --analysis-memory and --log-format.
void add_serving_options(Command command, ServeLine& line);
// Those of the line; NotFound: there is no cache folder to be found.
base::Result<server::ServerOptions> serving_options(const ServeLine& line);

// Serves until SIGINT, SIGTERM or SIGHUP. `start` returns once the server listens, and says what is
// to be said. Returns the exit code.
using StartServer = std::function<base::Result<std::unique_ptr<server::WebServer>>()>;
int serve_until_stopped(std::string_view command, const StartServer& start);
// For it: a server of a folder, and what to say of it.
StartServer folder_server(server::ServerOptions options,
                          std::function<void(const server::Server& server)> on_start);

}  // namespace gpufl::cli
