// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/status.hpp"
#include "net/endpoint.hpp"
#include "net/http_limits.hpp"
#include "net/http_message.hpp"

// A small HTTP/1.1 server: one thread for the network, a few for handlers, and a bound on
// everything that a client can send, hold or keep waiting. Start and stop on any thread but a
// handler's. Handlers run on several threads at once. What they throw costs one request its answer.
namespace gpufl::net {

class HttpServer {
 public:
  // Listens when it returns. Fails when the address cannot be bound, with its text and the reason.
  // `check`: the handler sees only requests that it has no answer to.
  static base::Result<std::unique_ptr<HttpServer>> start(const Endpoint& endpoint,
                                                         HttpHandler handler,
                                                         const HttpLimits& limits = {},
                                                         AccessLog log = {}, HeadCheck check = {});
  ~HttpServer();  // stop(), and waits for handlers as long as they take
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Accepts nobody any more, ends event streams and waits, up to `stop_time`, for requests under
  // way. Then `is_cancelled` becomes true for all, connections are closed, and handlers have
  // `cancel_time` to return. Returns how many have not: they still use what they were given, and so
  // does the server, so whoever cannot wait for them ends the program without destroying either.
  // May be called twice.
  size_t stop();

  const Endpoint& endpoint() const { return endpoint_; }  // with the port that was picked
  HttpStats stats() const;

 private:
  struct Core;
  HttpServer(std::unique_ptr<Core> core, Endpoint endpoint);

  std::unique_ptr<Core> core_;
  Endpoint endpoint_;
};

}  // namespace gpufl::net
