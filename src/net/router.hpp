// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http_message.hpp"

// Which handler serves a method and a path. Filled on one thread, then read on any. 404 and 405 are
// its own answers, HEAD is served by GET's handler, and OPTIONS says what is allowed, without CORS:
// other sites' pages may not use what is served here.
namespace gpufl::net {

// What the `{name}` segments of a pattern stood for.
class PathParameters {
 public:
  // Empty when the pattern has no such name.
  const std::string& operator[](std::string_view name) const;
  void add(std::string_view name, std::string_view value);

 private:
  NamedTexts values_;
};

class Router {
 public:
  using Handler = std::function<HttpReply(const HttpRequest&, const PathParameters&)>;

  // A pattern like "/api/sessions/{id}/tracks". "{name}" is one segment that is not empty; a last
  // segment "{name*}" is the rest of the path, slashes included, which may be empty. Where several
  // patterns match, the one with the earlier literal segment is meant, whatever its methods.
  Router& add(std::string_view method, std::string_view pattern, Handler handler);
  Router& get(std::string_view pattern, Handler handler) {
    return add("GET", pattern, std::move(handler));
  }
  Router& post(std::string_view pattern, Handler handler) {
    return add("POST", pattern, std::move(handler));
  }

  HttpReply answer(const HttpRequest& request) const;

  // Which of the handlers answer() would call, by the order in which they were added, and with
  // what. For those whose handlers are told more than a router knows.
  struct Found {
    size_t number = 0;
    PathParameters path;
  };
  // Nothing: no handler is meant, and answer() says why.
  std::optional<Found> find(const HttpRequest& request) const;

 private:
  struct Route {
    std::string method;
    std::vector<std::string> segments;
    Handler handler;
  };
  // Those of the pattern that is meant, whatever their methods.
  std::vector<const Route*> of_path(const std::vector<std::string>& path) const;
  static bool is_meant(const Route& route, const HttpRequest& request);

  std::vector<Route> routes_;
};

}  // namespace gpufl::net
