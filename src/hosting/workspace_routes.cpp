// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hosting/hosted_routes.hpp"

namespace gpufl::hosting {
namespace {

using base::Json;
using base::Status;
using store::ApiKey;
using store::Role;

constexpr int64_t kDay_ms = int64_t{24} * 3600 * 1000;
constexpr int64_t kMostDays = 3650;
constexpr size_t kLongestLabel = 100;
constexpr int64_t kMostAudit = 1000;
constexpr size_t kMostReceived = 500;

Json key_json(const ApiKey& key) {
  return Json::object()
      .set("id", std::to_string(key.id))
      .set("label", key.label)
      .set("scope", store::to_string(key.scope))
      .set("made_by", key.made_by)
      .set("created", time_json(key.created_ms))
      .set("expires", time_json(key.expires_ms))
      .set("last_used", time_json(key.last_used_ms))
      .set("is_revoked", key.is_revoked)
      .set("is_orphan", key.is_orphan);
}

// A member sees and revokes their own, an admin all.
bool is_ones_own(const ApiKey& key, const HostedCall& asked) {
  return key.workspace == asked.workspace &&
         (asked.caller.has_role(asked.workspace, Role::Admin) || key.made_by == asked.caller.name);
}

net::HttpReply list_keys(const HostedCall& asked, HostedServices& services) {
  const store::DirectoryPtr directory = services.people.directory();
  std::vector<const ApiKey*> keys;
  for (const auto& [hash, key] : directory->keys) {
    if (is_ones_own(key, asked)) keys.push_back(&key);
  }
  std::sort(keys.begin(), keys.end(),
            [](const ApiKey* a, const ApiKey* b) { return a->id < b->id; });
  Json list = Json::array();
  for (const ApiKey* key : keys) list.push(key_json(*key));
  return json(Json::object().set("keys", std::move(list)));
}

net::HttpReply make_key(const HostedCall& asked, HostedServices& services) {
  net::HttpReply mistake;
  const auto body = object_in(asked.call.request(), mistake);
  if (!body) return mistake;
  const auto scope = store::find_scope((*body)["scope"].as_string());
  if (!scope) return net::problem(400, "Wrong key", "scope is ingest or read");
  const int64_t days = (*body)["days"].as_integer(0);
  if (days < 0 || days > kMostDays) return net::problem(400, "Wrong key", "days is 0 to 3650");
  ApiKey key;
  key.workspace = asked.workspace;
  key.label = (*body)["label"].as_string();
  key.scope = *scope;
  key.made_by = asked.caller.name;
  key.expires_ms = days == 0 ? 0 : now_ms() + days * kDay_ms;
  if (key.label.empty() || server::count_characters(key.label) > kLongestLabel) {
    return net::problem(400, "Wrong key", "label is a text of 1 to 100 characters");
  }
  const auto made = services.people.add_key(key);
  if (!made) return outcome_reply(made.status(), services);
  services.audit.write(asked.workspace, asked.caller.name, "key made",
                       std::to_string(made->id) + " " + key.label);
  return json(Json::object().set("id", std::to_string(made->id)).set("key", made->text), 201);
}

net::HttpReply revoke_key(const HostedCall& asked, HostedServices& services) {
  const std::string& id = asked.call.path("key");
  const store::DirectoryPtr directory = services.people.directory();
  for (const auto& [hash, key] : directory->keys) {
    if (std::to_string(key.id) != id || !is_ones_own(key, asked)) continue;
    const Status revoked = services.people.revoke_key(asked.workspace, key.id);
    if (revoked) {
      services.audit.write(asked.workspace, asked.caller.name, "key revoked", id);
    }
    return outcome_reply(revoked, services);
  }
  return not_found();
}

net::HttpReply list_people(const HostedCall& asked, HostedServices& services) {
  const store::DirectoryPtr directory = services.people.directory();
  Json list = Json::array();
  for (const auto& [id, user] : directory->users) {
    const auto role = user.role_in(asked.workspace);
    if (!role) continue;
    list.push(Json::object()
                  .set("user", user.name)
                  .set("role", store::to_string(*role))
                  .set("is_disabled", user.is_disabled));
  }
  return json(Json::object().set("people", std::move(list)));
}

// Only of people who are in the workspace already: who else there is, an admin of one workspace is
// not told. `gpufl admin user` brings people in.
net::HttpReply set_role(const HostedCall& asked, HostedServices& services) {
  net::HttpReply mistake;
  const auto body = object_in(asked.call.request(), mistake);
  if (!body) return mistake;
  const Json& word = (*body)["role"];
  const auto role = store::find_role(word.as_string());
  if (!role && !word.is_null()) {
    return net::problem(400, "Wrong role", "role is viewer, member, admin or null");
  }
  const store::DirectoryPtr directory = services.people.directory();
  const store::User* user = directory->user_named(asked.call.path("user"));
  if (user == nullptr || !user->role_in(asked.workspace)) return not_found();
  if (user->id == asked.caller.id) {
    return net::problem(409, net::reason_of(409), "another admin has to change your role");
  }
  const Status set = services.people.set_role(user->id, asked.workspace, role);
  if (set) {
    services.audit.write(asked.workspace, asked.caller.name, "role set",
                         user->name + " " + (role ? word.as_string() : "none"));
  }
  return outcome_reply(set, services);
}

net::HttpReply list_quarantine(const HostedCall& asked, HostedServices& services) {
  const auto aside = services.store.set_aside(asked.workspace);
  if (!aside) return outcome_reply(aside.status(), services);
  Json list = Json::array();
  for (const store::SetAside& one : *aside) {
    list.push(Json::object()
                  .set("id", std::to_string(one.id))
                  .set("session", one.session)
                  .set("what", one.what)
                  .set("reason", one.reason)
                  .set("sender", one.sender)
                  .set("bytes", std::to_string(one.bytes))
                  .set("sha256", one.sha256)
                  .set("arrived", time_json(one.arrived_ms)));
  }
  return json(Json::object().set("quarantine", std::move(list)));
}

net::HttpReply list_audit(const HostedCall& asked, HostedServices& services) {
  const auto log = services.people.audit_log(asked.workspace, kMostAudit);
  if (!log) return outcome_reply(log.status(), services);
  Json list = Json::array();
  for (const store::AuditEntry& entry : *log) {
    list.push(Json::object()
                  .set("time", time_json(entry.time_ms))
                  .set("actor", entry.actor)
                  .set("action", entry.action)
                  .set("subject", entry.subject));
  }
  return json(Json::object().set("audit", std::move(list)));
}

net::HttpReply set_deleted(const HostedCall& asked, bool is_deleted, HostedServices& services) {
  const std::string& session = asked.call.path("session");
  const Status done = services.store.set_deleted(asked.workspace, session, is_deleted);
  if (done) {
    // Links to it have ended: those who follow one are to notice at once.
    (void)services.people.refresh();
    services.audit.write(asked.workspace, asked.caller.name,
                         is_deleted ? "session deleted" : "session restored", session);
  }
  return outcome_reply(done, services);
}

net::HttpReply set_pinned(const HostedCall& asked, bool is_pinned, HostedServices& services) {
  const std::string& session = asked.call.path("session");
  const Status done = services.store.set_pinned(asked.workspace, session, is_pinned);
  if (done) {
    (void)services.people.audit(asked.workspace, asked.caller.name,
                                is_pinned ? "session pinned" : "session unpinned", session);
  }
  return outcome_reply(done, services);
}

net::HttpReply list_received(const HostedCall& asked, HostedServices& services) {
  const int64_t before = asked.call.integer("before", 0);
  const auto sessions = services.store.sessions(asked.workspace, kMostReceived, before);
  if (!sessions) return outcome_reply(sessions.status(), services);
  Json list = Json::array();
  for (const store::StoredSession& one : *sessions) {
    const char* state = one.is_purged ? "gone" : one.is_deleted ? "deleted" : "open";
    list.push(Json::object()
                  .set("number", std::to_string(one.id))
                  .set("session", one.name)
                  .set("state", state)
                  .set("is_pinned", one.is_pinned)
                  .set("bytes", std::to_string(one.bytes))
                  .set("changed", time_json(one.changed_ms))
                  .set("deleted", time_json(one.deleted_ms)));
  }
  return json(Json::object().set("received", std::move(list)));
}

}  // namespace

void add_workspace_routes(HostedRoutes& routes, HostedServices& services) {
  const std::string api = "/w/{workspace}/api/v1/";
  const auto add = [&](Need need, const char* method, const std::string& pattern, const char* id,
                       const char* summary, auto handler) {
    routes.add(need, {.method = method, .pattern = api + pattern, .id = id, .summary = summary},
               [&services, handler](const HostedCall& call) { return handler(call, services); });
  };
  add(Need::Member, "GET", "keys", "list_keys", "API keys, without their text", list_keys);
  add(Need::Member, "POST", "keys", "make_key", "A new key; its text is shown once", make_key);
  add(Need::Member, "DELETE", "keys/{key}", "revoke_key", "Ends a key", revoke_key);
  add(Need::Admin, "GET", "people", "list_people", "Who is in the workspace", list_people);
  add(Need::Admin, "PUT", "people/{user}", "set_role", "Changes a role, or ends it", set_role);
  add(Need::Admin, "GET", "quarantine", "list_quarantine", "What could not be taken",
      list_quarantine);
  add(Need::Admin, "GET", "audit", "list_audit", "What was done, newest first", list_audit);
  add(Need::Member, "DELETE", "received/{session}", "delete_session",
      "Puts a session out of sight, and refuses what comes of it",
      [](const HostedCall& call, HostedServices& of) { return set_deleted(call, true, of); });
  add(Need::Member, "PUT", "received/{session}/pin", "pin_session",
      "Keeps a session, whatever retention says",
      [](const HostedCall& call, HostedServices& of) { return set_pinned(call, true, of); });
  add(Need::Member, "DELETE", "received/{session}/pin", "unpin_session", "Undoes that",
      [](const HostedCall& call, HostedServices& of) { return set_pinned(call, false, of); });
  routes.add(Need::Member,
             {.method = "GET",
              .pattern = api + "received",
              .id = "list_received",
              .summary = "Sessions that came, pinned and deleted ones too, newest first",
              .parameters = {server::integer("before", 1, int64_t{1} << 53, int64_t{1} << 53,
                                             "Only those with smaller numbers.")}},
             [&services](const HostedCall& call) { return list_received(call, services); });
  add(Need::Member, "POST", "received/{session}/restore", "restore_session", "Undoes that",
      [](const HostedCall& call, HostedServices& of) { return set_deleted(call, false, of); });
}

}  // namespace gpufl::hosting
