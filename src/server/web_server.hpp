// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "net/endpoint.hpp"

// A server that runs, for those who only show where it is and end it. One thread.
namespace gpufl::server {

class WebServer {
 public:
  WebServer() = default;
  virtual ~WebServer() = default;
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  virtual const net::Endpoint& endpoint() const = 0;
  // What to open. May hold a secret: for the user alone, and for no log.
  virtual std::string address() const = 0;
  // Requests under way are answered, and streams end. Returns after some seconds with how many
  // handlers do not end: while there are any, destroying the server waits for them.
  virtual size_t stop() = 0;
};

}  // namespace gpufl::server
