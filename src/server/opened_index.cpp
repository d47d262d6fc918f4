// SPDX-License-Identifier: Apache-2.0
#include "server/opened_index.hpp"

#include <chrono>
#include <utility>

#include "net/fields.hpp"
#include "server/replies.hpp"
#include "server/withheld.hpp"

namespace gpufl::server {
namespace {

using base::Json;

bool is_damaged(Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  return session && services.indexes.is_damaged(*session);
}

net::HttpReply indexing_reply() {
  Json json = Json::object();
  json.set("state", "indexing");
  net::HttpReply reply = net::reply_with("application/json", json.dump() + "\n", 202);
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

net::HttpReply for_guest(Services& services, const Call& call, net::HttpReply reply) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (reply.status != 200 || reply.body.empty()) return reply;
  const std::string folder = session ? session->dir.string() : std::string();
  return index_reply(call.request(), text_without_withheld(reply.body, call.viewer(), folder));
}

}  // namespace

net::HttpReply index_reply(const net::HttpRequest& request, std::string text) {
  const std::string etag = net::etag_of(text);
  return with_etag(request, net::reply_with("application/json", std::move(text)), etag);
}

OpenedIndex open_index(Services& services, const Call& call, const IndexWait& wait) {
  OpenedIndex opened;
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) {
    opened.reply = no_such("session", call.path("session"));
    return opened;
  }
  auto open = services.indexes.open(*session, wait);
  if (!open) {
    opened.reply = problem_of(open.status());
  } else if (open->session == nullptr) {
    opened.reply = indexing_reply();
  } else {
    opened.open = std::move(*open);
    opened.session = opened.open.session.get();
  }
  return opened;
}

void add_index_route(Routes& routes, Services& services, const IndexRoute& route) {
  routes.add({.pattern = std::string("/api/v1/sessions/{session}") + route.path,
              .id = route.id,
              .summary = route.summary,
              .parameters = route.parameters,
              .answers = {{.description = route.description, .schema = schema_ref(route.schema)},
                          {.status = 202,
                           .description = "The session is being indexed; ask again.",
                           .schema = schema_ref("Indexing")}},
              .guests = Guests::OfSession,
              .handler = [&services, handler = route.handler,
                          is_of_names = route.is_of_names](const Call& call) {
                net::HttpReply reply = handler(services, call);
                // What it found damaged is made again: this request need not fail for that.
                const bool is_failure = reply.status == 422 || reply.status == 503;
                if (is_failure && is_damaged(services, call)) reply = handler(services, call);
                if (!call.viewer().is_guest() || is_of_names) return reply;
                return for_guest(services, call, std::move(reply));
              }});
}

}  // namespace gpufl::server
