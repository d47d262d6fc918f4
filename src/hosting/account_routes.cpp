// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <string>
#include <utility>

#include "hosting/hosted_routes.hpp"
#include "store/password.hpp"

namespace gpufl::hosting {
namespace {

using base::Json;
using store::User;

constexpr int64_t kLogin_s = int64_t{14} * 24 * 3600;
// Each takes 32 MiB and a core for a while.
constexpr int kHashesAtOnce = 2;

// A place among those that hash a password; tells when there is none.
class HashTurn {
 public:
  HashTurn() : has_it_(++running() <= kHashesAtOnce) {}
  ~HashTurn() { --running(); }
  HashTurn(const HashTurn&) = delete;
  HashTurn& operator=(const HashTurn&) = delete;
  explicit operator bool() const { return has_it_; }

 private:
  static std::atomic<int>& running() {
    static std::atomic<int> count = 0;
    return count;
  }
  const bool has_it_;
};

net::HttpReply too_often(int seconds) {
  net::HttpReply reply = net::problem(429, net::reason_of(429), "too many tries; wait a while");
  reply.headers.emplace_back("Retry-After", std::to_string(seconds));
  return reply;
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

// In every workspace that the user is in, and nowhere else: who else there is concerns nobody.
void audit(const User& user, std::string_view action, const net::HttpRequest& request,
           HostedServices& services) {
  if (user.roles.empty()) (void)services.people.audit(0, user.name, action, request.peer);
  for (const auto& [workspace, role] : user.roles) {
    (void)services.people.audit(workspace, user.name, action, request.peer);
  }
}

net::HttpReply let_in(const net::HttpRequest& request, int64_t user, HostedServices& services) {
  const auto secret = services.people.log_in(user, now_ms() + kLogin_s * 1000);
  const store::DirectoryPtr directory = services.people.directory();
  const auto found = directory->users.find(user);
  if (!secret || found == directory->users.end()) return net::problem(503);
  audit(found->second, "logged in", request, services);
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
  if (const int wait = services.logins.take(name); wait > 0) return too_often(wait);
  const HashTurn turn;
  if (!turn) return too_often(1);
  const store::DirectoryPtr directory = services.people.directory();
  const User* user = directory->user_named(name);
  // As long for a name that nobody has, so that time does not tell names.
  static const std::string kNobodys = store::hash_password("not a password of any user");
  const bool can = user != nullptr && !user->is_disabled && !user->password.empty();
  const bool is_right = store::is_password(password, can ? user->password : kNobodys);
  if (!can || !is_right) {
    if (user != nullptr) audit(*user, "login refused", request, services);
    return wrong_login();
  }
  return let_in(request, user->id, services);
}

// By the link of an invitation: the first start's, or one that `gpufl admin` made.
net::HttpReply take_invitation(const HostedCall& asked, HostedServices& services) {
  const net::HttpRequest& request = asked.call.request();
  net::HttpReply mistake;
  const auto body = object_in(request, mistake);
  if (!body) return mistake;
  if (const int wait = services.logins.take(" invitations"); wait > 0) return too_often(wait);
  const std::string& password = (*body)["password"].as_string();
  if (password.size() < store::kShortestPassword || password.size() > store::kLongestPassword) {
    return net::problem(400, "Wrong password", "a password has 12 to 1024 characters");
  }
  const HashTurn turn;
  if (!turn) return too_often(1);
  const auto user = services.people.take_invitation((*body)["token"].as_string(), now_ms());
  if (!user) return net::problem(503);
  if (!*user) {
    return net::problem(401, "The link does not count",
                        "it was used, has expired, or a later one was made");
  }
  if (const auto set = services.people.set_password(**user, password); !set) {
    return net::problem(400, "Wrong password", set.message());
  }
  return let_in(request, **user, services);
}

net::HttpReply change_password(const HostedCall& asked, HostedServices& services) {
  const net::HttpRequest& request = asked.call.request();
  net::HttpReply mistake;
  const auto body = object_in(request, mistake);
  if (!body) return mistake;
  if (const int wait = services.logins.take(asked.caller.name); wait > 0) return too_often(wait);
  const HashTurn turn;
  if (!turn) return too_often(1);
  const store::DirectoryPtr directory = services.people.directory();
  const User& user = directory->users.at(asked.caller.id);
  if (!store::is_password((*body)["old"].as_string(), user.password)) {
    return net::problem(403, "Wrong password", "the old password is another one");
  }
  const auto set = services.people.set_password(user.id, (*body)["new"].as_string());
  if (!set) return net::problem(400, "Wrong password", set.message());
  audit(user, "password changed", request, services);
  return let_in(request, user.id, services);
}

net::HttpReply log_out(const HostedCall& asked, HostedServices& services) {
  const net::HttpRequest& request = asked.call.request();
  if (!services.people.log_out(services.access.cookie_of(request))) return net::problem(503);
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
