// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "net/http_message.hpp"
#include "server/index_pool.hpp"
#include "server/routes.hpp"
#include "server/services.hpp"

// What all routes have in common that answer from a session's index. Any thread.
namespace gpufl::server {

// The index that a request is about, or the reply that says what is missing.
struct OpenedIndex {
  const index::IndexedSession* session = nullptr;
  OpenIndex open;
  net::HttpReply reply;
};
OpenedIndex open_index(Services& services, const Call& call, const IndexWait& wait = {});

// An answer in JSON, with its ETag.
net::HttpReply index_reply(const net::HttpRequest& request, std::string text);

using IndexHandler = net::HttpReply (*)(Services&, const Call&);
struct IndexRoute {
  const char* path;  // behind the session
  const char* id;
  const char* summary;
  const char* description;
  const char* schema;  // its name
  std::vector<Parameter> parameters;
  IndexHandler handler;
  bool is_of_names = false;  // has nothing but names and numbers, which guests may see
};
void add_index_route(Routes& routes, Services& services, const IndexRoute& route);

}  // namespace gpufl::server
