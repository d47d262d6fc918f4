// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "hosting/hosted_routes.hpp"
#include "server/server_options.hpp"
#include "server/web_server.hpp"
#include "store/session_store.hpp"

// Takes sessions from other machines, keeps them in a folder of its own, and shows each workspace
// to those who may see it (docs/design/hosting.md). Start and stop on one thread; the rest happens
// on threads of its own: those of the network and its handlers, one that commits what arrives, one
// that looks for changes every second, and for each workspace one that looks for sessions.
namespace gpufl::hosting {

struct HostedOptions {
  server::ServerOptions server;  // its folder is the one that everything is kept in
  // Others than this machine may connect although nothing is encrypted: a proxy elsewhere does
  // that, or nobody.
  bool allow_plain_http = false;
  TrustedProxy proxy = {};
  std::optional<OidcSettings> oidc = {};  // nothing: nobody logs in by way of a provider
  store::StoreLimits store = {};
  Rate pieces{.per_second = 500, .most = 1000};         // of each key and host
  Rate key_pieces{.per_second = 5000, .most = 10'000};  // of each key
  Rate tries{.per_second = 10.0 / 60, .most = 10};      // to log in, of each name from each network
  std::chrono::milliseconds house_pace{1000};
};

class HostedServer : public server::WebServer {
 public:
  // InvalidArgument: others could connect and may not. Unavailable: another server uses the folder.
  // TooNew: a later version has written it.
  static base::Result<std::unique_ptr<HostedServer>> start(HostedOptions options);

  // A link by which the first admin sets a password, once; empty: there is an admin already, or a
  // proxy says who people are.
  virtual const std::string& first_link() const = 0;
  virtual const std::vector<HostedRoutes::Row>& rows() const = 0;
};

}  // namespace gpufl::hosting
