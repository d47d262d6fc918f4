// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "hosting/hosted_routes.hpp"
#include "store/password.hpp"

namespace gpufl::hosting {
namespace {

using base::Json;
using store::User;

constexpr int64_t kLogin_s = int64_t{14} * 24 * 3600;
net::HttpReply too_often(int seconds) {
  net::HttpReply reply = net::problem(429, net::reason_of(429), "too many tries; wait a while");
  reply.headers.emplace_back("Retry-After", std::to_string(seconds));
  return reply;
}

// 0: go ahead. Of each name from each network, so that nobody can lock somebody else out.
int wait_to_try(const net::HttpRequest& request, const std::string& name,
                HostedServices& services) {
  const std::string network = services.access.network_of(request);
  const int wait = services.tries_of_networks.take(network);
  return wait > 0 ? wait : services.tries.take(name + " " + network);
}

// What went wrong while a password was hashed or kept.
net::HttpReply reply_to(const base::Status& status, HostedServices& services) {
  if (status.code() == base::Code::InvalidArgument) {
    return net::problem(400, "Wrong password", status.message());
  }
  services.complain(status.message());
  return net::problem(503);
}

Json workspaces_of(const User& user, const store::Directory& directory) {
  Json list = Json::array();
  for (const auto& [workspace, role] : user.roles) {
    if (const std::string* name = directory.name_of(workspace)) {
      list.push(Json::object().set("name", *name).set("role", store::to_string(role)));
    }
  }
  return list;
}

net::HttpReply show(const User& user, const store::Directory& directory) {
  return json(
      Json::object().set("user", user.name).set("workspaces", workspaces_of(user, directory)));
}

net::HttpReply let_in(const net::HttpRequest& request, int64_t user, HostedServices& services) {
  const auto secret = services.people.log_in(user, now_ms() + kLogin_s * 1000);
  const store::DirectoryPtr directory = services.people.directory();
  const auto found = directory->users.find(user);
  if (!secret || found == directory->users.end()) return net::problem(503);
  services.audit.write_of(found->second, "logged in", services.access.network_of(request));
  net::HttpReply reply = show(found->second, *directory);
  reply.headers.emplace_back("Set-Cookie", services.access.set_cookie(request, *secret, kLogin_s));
  return reply;
}

net::HttpReply wrong_login() {
  return net::problem(401, "Wrong name or password", "or the account is disabled");
}

net::HttpReply log_in(const HostedCall& asked, HostedServices& services) {
  const net::HttpRequest& request = asked.call.request();
  net::HttpReply mistake;
  const auto body = object_in(request, mistake);
  if (!body) return mistake;
  const std::string& name = (*body)["user"].as_string();
  const std::string& password = (*body)["password"].as_string();
  if (!store::is_user_name(name) || password.size() > store::kLongestPassword) {
    return wrong_login();
  }
  if (const int wait = wait_to_try(request, name, services); wait > 0) return too_often(wait);
  const Places::Place place(services.hashes);
  if (!place) return too_often(1);
  // As long for a name that nobody has, so that time does not tell names.
  static const auto kNobodys = store::hash_password("not a password of any user");
  if (!kNobodys) return reply_to(kNobodys.status(), services);
  const store::DirectoryPtr directory = services.people.directory();
  const User* user = directory->user_named(name);
  const bool can = user != nullptr && !user->is_disabled && !user->password.empty();
  const auto is_right = store::is_password(password, can ? user->password : *kNobodys);
  if (!is_right) return reply_to(is_right.status(), services);
  if (can && *is_right) return let_in(request, user->id, services);
  if (user != nullptr) {
    services.audit.note_of(*user, "login refused", services.access.network_of(request));
  }
  return wrong_login();
}

// By the link of an invitation: the first start's, or one that `gpufl admin` made.
net::HttpReply take_invitation(const HostedCall& asked, HostedServices& services) {
  const net::HttpRequest& request = asked.call.request();
  net::HttpReply mistake;
  const auto body = object_in(request, mistake);
  if (!body) return mistake;
  if (const int wait = wait_to_try(request, "", services); wait > 0) return too_often(wait);
  const Places::Place place(services.hashes);
  if (!place) return too_often(1);
  const auto taken = services.people.take_invitation((*body)["token"].as_string(),
                                                     (*body)["password"].as_string(), now_ms());
  if (!taken) return reply_to(taken.status(), services);
  if (!*taken) {
    return net::problem(401, "The link does not count",
                        "it was used, has expired, or a later one was made");
  }
  const store::DirectoryPtr directory = services.people.directory();
  const User& user = directory->users.at((*taken)->user);
  services.audit.write_of(
      user, (*taken)->is_made_admin ? "became admin by the first link" : "password set by a link",
      services.access.network_of(request));
  return let_in(request, user.id, services);
}

net::HttpReply change_password(const HostedCall& asked, HostedServices& services) {
  const net::HttpRequest& request = asked.call.request();
  net::HttpReply mistake;
  const auto body = object_in(request, mistake);
  if (!body) return mistake;
  const int wait = wait_to_try(request, asked.caller.name, services);
  if (wait > 0) return too_often(wait);
  const Places::Place place(services.hashes);
  if (!place) return too_often(1);
  const store::DirectoryPtr directory = services.people.directory();
  const User& user = directory->users.at(asked.caller.id);
  const auto is_right = store::is_password((*body)["old"].as_string(), user.password);
  if (!is_right) return reply_to(is_right.status(), services);
  if (!*is_right) {
    return net::problem(403, "Wrong password", "the old password is another one");
  }
  const auto set = services.people.set_password(user.id, (*body)["new"].as_string());
  if (!set) return reply_to(set, services);
  services.audit.write_of(user, "password changed", services.access.network_of(request));
  return let_in(request, user.id, services);
}

net::HttpReply log_out(const HostedCall& asked, HostedServices& services) {
  const net::HttpRequest& request = asked.call.request();
  if (!services.people.log_out(services.access.cookie_of(request))) return net::problem(503);
  const store::DirectoryPtr directory = services.people.directory();
  services.audit.write_of(directory->users.at(asked.caller.id), "logged out",
                          services.access.network_of(request));
  net::HttpReply reply{.status = 204};
  reply.headers.emplace_back("Set-Cookie", services.access.set_cookie(request, "", 0));
  return reply;
}

}  // namespace

void add_account_routes(HostedRoutes& routes, HostedServices& services) {
  routes.add(Need::Nothing,
             {.method = "POST",
              .pattern = "/api/v1/login",
              .id = "log_in",
              .summary = "Gives a cookie for a name and a password"},
             [&](const HostedCall& call) { return log_in(call, services); });
  routes.add(Need::Nothing,
             {.method = "POST",
              .pattern = "/api/v1/invitation",
              .id = "take_invitation",
              .summary = "Sets a password by a link that counts once"},
             [&](const HostedCall& call) { return take_invitation(call, services); });
  routes.add(Need::Person,
             {.method = "POST", .pattern = "/api/v1/logout", .id = "log_out", .summary = "Ends it"},
             [&](const HostedCall& call) { return log_out(call, services); });
  routes.add(Need::Person,
             {.pattern = "/api/v1/me", .id = "show_me", .summary = "Who is logged in"},
             [&](const HostedCall& asked) {
               const store::DirectoryPtr directory = services.people.directory();
               return show(directory->users.at(asked.caller.id), *directory);
             });
  routes.add(Need::Person,
             {.method = "POST",
              .pattern = "/api/v1/password",
              .id = "change_password",
              .summary = "Changes it, and ends every other login"},
             [&](const HostedCall& call) { return change_password(call, services); });
}

}  // namespace gpufl::hosting
