// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"
#include "server/server_options.hpp"
#include "server/web_server.hpp"

// Shows the sessions of a folder over HTTP on loopback. Never writes into the folder. Start and
// stop on one thread; everything else happens on threads of its own: one for the network, a few for
// handlers, one that looks for sessions, and those of the analyses.
namespace gpufl::server {

class Server : public WebServer {
 public:
  // InvalidArgument: the address is not loopback. NotFound: there is no such folder.
  static base::Result<std::unique_ptr<Server>> start(ServerOptions options);

  virtual const std::string& token() const = 0;
  // address(), with the token as that has it, of the page that shows the one session there is, else
  // of the list of them. Waits for the first look at the folder.
  virtual std::string session_address() const = 0;
};

}  // namespace gpufl::server
