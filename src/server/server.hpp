// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "net/endpoint.hpp"
#include "server/access_guard.hpp"
#include "server/analysis_pool.hpp"
#include "server/routes.hpp"

// Shows the sessions of a folder over HTTP on loopback. Never writes into the folder. Start and
// stop on one thread; everything else happens on threads of its own: one for the network, a few for
// handlers, one that looks for sessions, and those of the analyses.
namespace gpufl::server {

enum class LogFormat : uint8_t { None, Text, Json };

struct ServerOptions {
  std::filesystem::path folder;
  net::Endpoint listen = {};  // of loopback
  std::optional<PublicUrl> public_url = {};
  std::filesystem::path cache;
  AnalysisLimits analysis = {};
  // What to start for an analysis, before its request: the program itself.
  std::vector<std::string> analysis_program = {"/proc/self/exe", "analyze", "--request"};
  std::chrono::milliseconds pace{1000};  // between looks at the folder
  LogFormat log = LogFormat::None;
  // A line of the log, with its newline. Requests come from a thread of its own, mistakes of ours
  // from any.
  std::function<void(std::string_view line)> write_log = {};
};

class Server {
 public:
  // InvalidArgument: the address is not loopback. NotFound: there is no such folder.
  static base::Result<std::unique_ptr<Server>> start(ServerOptions options);
  virtual ~Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  virtual const net::Endpoint& endpoint() const = 0;
  virtual const std::string& token() const = 0;
  // With the token: for the user alone, and for no log.
  virtual std::string address() const = 0;
  // The same, of the page that shows the one session there is, else of the list of them. Waits for
  // the first look at the folder.
  virtual std::string session_address() const = 0;
  // Requests under way are answered, and streams end. Returns after some seconds with how many
  // handlers do not end: while there are any, destroying the server waits for them.
  virtual size_t stop() = 0;

 protected:
  Server() = default;
};

}  // namespace gpufl::server
