// SPDX-License-Identifier: Apache-2.0
#include "hosting/hosted_routes.hpp"

#include <algorithm>
#include <utility>

#include "text/units.hpp"

namespace gpufl::hosting {
namespace {

using base::Json;
using store::Role;

// Nothing: the caller may.
std::optional<net::HttpReply> refuse(Need need, const Caller& caller, int64_t workspace) {
  using Kind = Caller::Kind;
  if (need == Need::Nothing) return std::nullopt;
  if (caller.kind == Kind::Nobody) return unauthorized();
  switch (need) {
    case Need::Nothing: break;
    case Need::Person:
      if (caller.kind != Kind::Person) return forbidden("keys may not do this");
      return std::nullopt;
    case Need::Guest:
      if (caller.kind == Kind::Guest) return std::nullopt;
      return not_found();
    case Need::Sender:
      if (caller.kind == Kind::Key && caller.scope == store::Scope::Ingest) return std::nullopt;
      return forbidden("this takes a key with the scope 'ingest'");
    case Need::AnyKey:
      if (caller.kind == Kind::Key) return std::nullopt;
      return forbidden("this takes a key");
    case Need::Reader:
    case Need::Member:
    case Need::Admin: break;
  }
  // Who may see nothing of a workspace does not hear that there is one.
  const bool knows_of_it = caller.kind == Kind::Key ? caller.workspace == workspace
                                                    : caller.has_role(workspace, Role::Viewer);
  if (workspace == 0 || !knows_of_it) return not_found();
  if (need == Need::Reader && caller.may_read(workspace)) return std::nullopt;
  if (need == Need::Member && caller.has_role(workspace, Role::Member)) return std::nullopt;
  if (need == Need::Admin && caller.has_role(workspace, Role::Admin)) return std::nullopt;
  return forbidden(need == Need::Admin ? "this takes an admin of the workspace"
                                       : "your role or key does not allow this");
}

}  // namespace

void HostedRoutes::add(Need need, server::Route route, Handler handler, Query query) {
  rows_.push_back({need, route.method, route.pattern});
  if (need == Need::Nothing) open_.insert(route.pattern);
  router_.add(
      route.method, route.pattern,
      [this, need, query, parameters = std::move(route.parameters), handler = std::move(handler)](
          const net::HttpRequest& request, const net::PathParameters& path) {
        const Caller caller = access_.caller_of(request);
        const store::DirectoryPtr directory = people_.directory();
        int64_t workspace = caller.workspace;
        std::string name = path["workspace"];
        if (!name.empty()) {
          const auto found = directory->workspaces.find(name);
          workspace = found == directory->workspaces.end() ? 0 : found->second;
        } else if (const std::string* own = directory->name_of(workspace)) {
          name = *own;
        }
        // Before anything else is said of the request.
        if (auto reply = refuse(need, caller, workspace)) return std::move(*reply);
        net::NamedTexts asked = request.query;
        if (query == Query::Foreign) {
          std::erase_if(asked, [&](const auto& one) {
            return std::none_of(parameters.begin(), parameters.end(),
                                [&](const auto& own) { return own.name == one.first; });
          });
        }
        const std::string mistake = server::mistake_in_query(asked, parameters);
        if (!mistake.empty()) return net::problem(400, "Wrong parameter", mistake);
        return handler({server::Call(request, path), caller, workspace, name});
      });
}

bool HostedRoutes::has(const net::HttpRequest& request) const {
  net::HttpRequest asked;
  asked.method = "OPTIONS";
  asked.path = request.path;
  return router_.answer(asked).status != 404;
}

net::HttpReply problem_with(int status, std::string_view detail, const Json& members) {
  Json document = Json::object();
  document.set("title", net::reason_of(status)).set("status", status).set("detail", detail);
  for (const auto& [name, value] : members.members()) document.set(name, value);
  return net::reply_with("application/problem+json", document.dump() + "\n", status);
}

net::HttpReply json(const Json& document, int status) {
  return net::reply_with("application/json", document.dump() + "\n", status);
}

net::HttpReply outcome_reply(const base::Status& status, HostedServices& services) {
  switch (status.code()) {
    case base::Code::Ok: return {.status = 204};
    case base::Code::NotFound: return not_found();
    case base::Code::InvalidArgument:
      return net::problem(400, net::reason_of(400), status.message());
    case base::Code::PermissionDenied:
    case base::Code::LimitReached: return net::problem(409, net::reason_of(409), status.message());
    default: services.complain(status.message()); return net::problem(503);
  }
}

Json time_json(int64_t time_ms) {
  return time_ms == 0 ? Json() : Json(text::utc(time_ms * 1'000'000));
}

std::optional<Json> object_in(const net::HttpRequest& request, net::HttpReply& reply) {
  // Forms of other sites can send anything but this.
  if (!request.header("Content-Type").starts_with("application/json")) {
    reply = net::problem(415, "Unsupported media type", "send application/json");
    return std::nullopt;
  }
  auto parsed = Json::parse(request.body);
  if (parsed && parsed->is_object()) return std::move(*parsed);
  reply = net::problem(400, "Not a JSON object", parsed ? "" : parsed.status().message());
  return std::nullopt;
}

}  // namespace gpufl::hosting
