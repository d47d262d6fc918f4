// SPDX-License-Identifier: Apache-2.0
#include "cli/serve_command.hpp"

#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/print.hpp"
#include "cli/serving.hpp"
#include "net/endpoint.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::cli {
namespace {

constexpr const char* kCommand = "gpufl serve";
constexpr uint16_t kDefaultPort = 9486;

struct Options {
  ServeLine line;
  std::string folder = workbench::kDefaultLogs;
  net::Endpoint listen{"127.0.0.1", kDefaultPort};
  std::optional<server::PublicUrl> public_url;
};

base::Result<int> run_serve(const Options& options) {
  auto serving = serving_options(options.line);
  if (!serving) return serving.status();
  serving->folder = options.folder;
  serving->listen = options.listen;
  serving->public_url = options.public_url;
  return serve_until_stopped(kCommand, std::move(*serving), [](const server::Server& server) {
    print(fmt::format("GPUFlight on {}\n", server.address()));
  });
}

}  // namespace

void add_serve_command(Command program) {
  auto options = std::make_shared<Options>();
  Command command =
      program.add_command("serve", "Serve the sessions of a folder over HTTP, on this machine");
  command.add_option("folder", options->folder, "A log folder, a run's folder or a session")
      .show_default();
  const auto take_endpoint = [options](const std::string& text) -> base::Status {
    const auto endpoint = net::parse_endpoint(text, options->listen);
    if (!endpoint) return endpoint.status();
    options->listen = *endpoint;
    return {};
  };
  command
      .add_parsed("--listen", take_endpoint, "A loopback address and port; port 0: any free port")
      .type_name("ADDRESS:PORT")
      .default_text(options->listen.text());
  const auto take_url = [options](const std::string& text) -> base::Status {
    auto url = server::parse_public_url(text);
    if (!url) return url.status();
    options->public_url = std::move(*url);
    return {};
  };
  command
      .add_parsed("--public-url", take_url,
                  "Where users see the server if a proxy forwards to it; its path is the prefix of "
                  "all paths")
      .type_name("URL");
  add_serving_options(command, options->line);
  command.set_footer(
      "Prints its address, which contains a token: who knows it can read every session in the "
      "folder. Nothing is written into the folder. Ctrl-C stops the server.\nExit code: 0 stopped "
      "by a signal; 2 there is no such folder, or the port is in use.");
  command.set_action([options] { return run_serve(*options); });
}

}  // namespace gpufl::cli
