// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "net/endpoint.hpp"

// A small read-only HTTP/1.1 server on a thread of its own: fixed paths, GET and HEAD, one request
// a connection, and a bound on everything a client can send or hold. Clients that dawdle are
// dropped in favour of new ones, so they cannot keep others out. Start and stop on any thread.
namespace gpufl::net {

struct HttpLimits {
  size_t header_bytes = 8192;                 // request line and fields together; then 431
  std::chrono::milliseconds read_time{5000};  // from accept to the last byte of the request
  std::chrono::milliseconds write_time{10000};
  size_t connections = 32;  // beyond: the oldest one is dropped
};

struct HttpReply {
  std::string content_type;
  std::string body;
};

struct HttpRoute {
  std::string path;                    // matched exactly, without the query
  std::function<HttpReply()> handler;  // runs on the server's thread
};

class HttpServer {
 public:
  // Listens when it returns. Fails when the address cannot be bound, with its text and the reason.
  static base::Result<std::unique_ptr<HttpServer>> start(const Endpoint& endpoint,
                                                         std::vector<HttpRoute> routes,
                                                         HttpLimits limits = {});
  // Closes every connection and joins the thread.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  const Endpoint& endpoint() const { return endpoint_; }  // with the port that was picked

 private:
  struct Core;
  HttpServer(std::unique_ptr<Core> core, Endpoint endpoint);

  std::unique_ptr<Core> core_;
  Endpoint endpoint_;
};

}  // namespace gpufl::net
