// SPDX-License-Identifier: Apache-2.0
#include "cli/serve_command.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/oidc_options.hpp"
#include "cli/print.hpp"
#include "cli/serving.hpp"
#include "hosting/hosted_server.hpp"
#include "net/endpoint.hpp"
#include "server/cache_folder.hpp"
#include "text/display.hpp"
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
  std::string data;  // empty: the sessions of `folder` are served, as they are
  bool allow_plain_http = false;
  hosting::TrustedProxy proxy;
  OidcLine oidc;
};

// On a terminal it is shown; else a log would keep it, so it goes to a file of the user's own.
base::Status tell_first_link(const std::string& link, const std::filesystem::path& data) {
  const std::filesystem::path file = data / "first-login";
  ::unlink(file.c_str());  // of an earlier start
  if (link.empty()) return {};
  if (::isatty(STDOUT_FILENO) != 0) {
    print(fmt::format(
        "There is no login yet. Open this once, to set the password of 'admin':\n{}\n", link));
    return {};
  }
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return base::Status::from_errno(errno, "cannot write " + file.string());
  const int failed = server::write_all(fd, link + "\n");
  ::close(fd);
  if (failed != 0) return base::Status::from_errno(failed, "cannot write " + file.string());
  print(fmt::format("There is no login yet. The address in {} sets the password of 'admin', once\n",
                    file.string()));
  return {};
}

// As the addresses of those who connect are written.
base::Status make_usual(std::vector<std::string>& peers) {
  for (std::string& peer : peers) {
    auto address = net::usual_address(peer);
    if (!address) {
      return {
          base::Code::InvalidArgument,
          fmt::format("--trusted-proxy: '{}' is not a numeric address; write for example 127.0.0.1 "
                      "or ::1, and give the option once for each",
                      text::make_harmless(peer))};
    }
    peer = std::move(*address);
  }
  return {};
}

base::Result<int> run_hosted(const Options& options) {
  // What others sent is for nobody else on this machine.
  ::umask(S_IRWXG | S_IRWXO);
  ServeLine line = options.line;
  // Everything that is kept is kept there.
  if (line.cache.empty()) line.cache = (std::filesystem::path(options.data) / "cache").string();
  auto serving = serving_options(line);
  if (!serving) return serving.status();
  hosting::HostedOptions hosted;
  hosted.server = std::move(*serving);
  hosted.server.folder = options.data;
  hosted.server.listen = options.listen;
  hosted.server.public_url = options.public_url;
  hosted.allow_plain_http = options.allow_plain_http;
  hosted.proxy = options.proxy;
  if (base::Status made = make_usual(hosted.proxy.peers); !made) return made;
  auto oidc = oidc_settings(options.oidc);
  if (!oidc) return oidc.status();
  hosted.oidc = std::move(*oidc);
  return serve_until_stopped(kCommand, [&]() -> base::Result<std::unique_ptr<server::WebServer>> {
    auto server = hosting::HostedServer::start(hosted);
    if (!server) return server.status();
    print(fmt::format("GPUFlight on {}\n", (*server)->address()));
    const base::Status told = tell_first_link((*server)->first_link(), options.data);
    if (!told) return told;
    return std::unique_ptr<server::WebServer>(std::move(*server));
  });
}

base::Result<int> run_serve(const Options& options) {
  if (!options.data.empty()) return run_hosted(options);
  auto serving = serving_options(options.line);
  if (!serving) return serving.status();
  serving->folder = options.folder;
  serving->listen = options.listen;
  serving->public_url = options.public_url;
  return serve_until_stopped(kCommand,
                             folder_server(std::move(*serving), [](const server::Server& server) {
                               print(fmt::format("GPUFlight on {}\n", server.address()));
                             }));
}

}  // namespace

void add_serve_command(Command program) {
  auto options = std::make_shared<Options>();
  Command command =
      program.add_command("serve", "Serve the sessions of a folder over HTTP, on this machine");
  Option folder =
      command.add_option("folder", options->folder, "A log folder, a run's folder or a session")
          .show_default();
  Option data =
      command
          .add_option("--data", options->data,
                      "Instead of a folder of logs: take sessions from other machines, keep them "
                      "here, and show them to people who log in")
          .type_name("DIR")
          .excludes(folder);
  command
      .add_flag(
          "--allow-plain-http", options->allow_plain_http,
          "With --data: listen on another address than loopback although nothing is encrypted")
      .needs(data);
  Option header = command
                      .add_option("--proxy-user-header", options->proxy.header,
                                  "With --data: the header in which a trusted proxy names the user")
                      .type_name("NAME")
                      .needs(data);
  Option peers =
      command
          .add_option("--trusted-proxy", options->proxy.peers,
                      "With --data: the numeric address of a proxy, from which that header and "
                      "X-Forwarded-For count; can be given again")
          .type_name("ADDRESS")
          .one_value()
          .needs(data);
  header.needs(peers);
  add_oidc_options(command, options->oidc, data);
  const auto take_endpoint = [options](const std::string& text) -> base::Status {
    const auto endpoint = net::parse_endpoint(text, options->listen);
    if (!endpoint) return endpoint.status();
    options->listen = *endpoint;
    return {};
  };
  command
      .add_parsed("--listen", take_endpoint,
                  "A numeric address and a port; port 0: any free port. Other addresses than "
                  "loopback take --data and --allow-plain-http")
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
      "Without --data the address that it prints contains a token: who knows it can read every "
      "session in the folder, into which nothing is written. With --data people log in instead, "
      "and gpufl admin makes users, and keys for machines that send. Ctrl-C stops the "
      "server.\nExit code: 0 stopped "
      "by a signal; 2 there is no such folder, another server uses it, or the port is in use.");
  command.set_action([options] { return run_serve(*options); });
}

}  // namespace gpufl::cli
