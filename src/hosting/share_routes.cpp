// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hosting/hosted_routes.hpp"
#include "hosting/shared_path.hpp"
#include "net/target.hpp"
#include "text/units.hpp"

namespace gpufl::hosting {
namespace {

using base::Json;
using base::Status;
using store::Role;
using store::Share;

constexpr int64_t kHour_ms = int64_t{3600} * 1000;
constexpr int64_t kUsualHours = 7 * 24;
constexpr std::string_view kGuest = "guest";  // in the audit log

// What of the session is in a link.
Json contents_json(const Share& share) {
  return Json::object()
      .set("session", share.session)
      .set("source", share.with_source)
      .set("command", share.with_command)
      .set("files", share.with_files)
      .set("expires", time_json(share.expires_ms));
}

Json share_json(const Share& share) {
  Json json = Json::object().set("id", share.id);
  const Json contents = contents_json(share);
  for (const auto& [name, value] : contents.members()) json.set(name, value);
  return json.set("made_by", share.made_by)
      .set("created", time_json(share.created_ms))
      .set("last_used", time_json(share.last_used_ms))
      .set("is_revoked", share.is_revoked)
      .set("is_orphan", share.is_orphan)
      .set("counts", share.is_valid(now_ms()));
}

// A member sees and ends their own, an admin all.
bool is_ones_own(const Share& share, const HostedCall& asked) {
  return share.workspace == asked.workspace &&
         (asked.caller.has_role(asked.workspace, Role::Admin) ||
          share.made_by == asked.caller.name);
}

// Why the body of a request is no link; empty: `share` has it.
std::string mistake_in(const Json& body, Share& share) {
  const std::pair<const char*, bool*> kBoxes[] = {{"source", &share.with_source},
                                                  {"command", &share.with_command},
                                                  {"files", &share.with_files}};
  for (const auto& [name, box] : kBoxes) {
    const Json* ticked = body.find(name);
    if (ticked != nullptr && !ticked->is_bool()) return std::string(name) + " is true or false";
    *box = ticked != nullptr && ticked->as_bool();
  }
  if (share.with_files && !(share.with_source && share.with_command)) {
    return "files have source text and the command line in them: say true for these, too";
  }
  const Json* hours = body.find("hours");
  const int64_t length = hours == nullptr ? kUsualHours : hours->as_integer(0);
  if (length < 1 || length > Share::kMostHours) return "hours is 1 to 2160";
  share.expires_ms = now_ms() + length * kHour_ms;
  share.session = body["session"].as_string();
  return share.session.empty() ? "session is the id of a session" : "";
}

std::string contents_text(const Share& share) {
  std::string text = share.session;
  if (share.with_source) text += ", with source";
  if (share.with_command) text += ", with command line";
  if (share.with_files) text += ", with files";
  return text + ", until " + text::utc(share.expires_ms * 1'000'000);
}

net::HttpReply make_share(const HostedCall& asked, HostedServices& services) {
  net::HttpReply mistake;
  const auto body = object_in(asked.call.request(), mistake);
  if (!body) return mistake;
  Share share;
  share.workspace = asked.workspace;
  share.made_by = asked.caller.name;
  if (const std::string why = mistake_in(*body, share); !why.empty()) {
    return net::problem(400, "Wrong link", why);
  }
  const auto made = services.people.add_share(share);
  if (!made) return outcome_reply(made.status(), services);
  services.audit.write(asked.workspace, asked.caller.name, "share link made",
                       made->id + " to " + contents_text(share));
  // Behind the '#', so that no log has it, and no page that it leads to is told.
  return json(Json::object()
                  .set("id", made->id)
                  .set("link", services.address + "#shared=" + made->token)
                  .set("expires", time_json(share.expires_ms)),
              201);
}

net::HttpReply list_shares(const HostedCall& asked, HostedServices& services) {
  const std::string session = asked.call.text("session", "");
  const store::DirectoryPtr directory = services.people.directory();
  std::vector<const Share*> shares;
  for (const auto& [id, share] : directory->shares) {
    if (!is_ones_own(share, asked)) continue;
    if (session.empty() || share.session == session) shares.push_back(&share);
  }
  std::sort(shares.begin(), shares.end(),
            [](const Share* a, const Share* b) { return a->created_ms > b->created_ms; });
  Json list = Json::array();
  for (const Share* share : shares) list.push(share_json(*share));
  return json(Json::object().set("shares", std::move(list)));
}

net::HttpReply revoke_share(const HostedCall& asked, HostedServices& services) {
  const store::DirectoryPtr directory = services.people.directory();
  const auto found = directory->shares.find(asked.call.path("share"));
  if (found == directory->shares.end() || !is_ones_own(found->second, asked)) return not_found();
  const Status revoked = services.people.revoke_share(asked.workspace, found->first);
  if (revoked) {
    services.audit.write(asked.workspace, asked.caller.name, "share link ended", found->first);
  }
  return outcome_reply(revoked, services);
}

net::HttpReply show_sharing(const HostedCall& asked, HostedServices& services) {
  const bool is_on = services.people.directory()->sharing.contains(asked.workspace);
  return json(Json::object()
                  .set("is_on", is_on)
                  .set("may_change", asked.caller.has_role(asked.workspace, Role::Admin)));
}

net::HttpReply set_sharing(const HostedCall& asked, HostedServices& services) {
  net::HttpReply mistake;
  const auto body = object_in(asked.call.request(), mistake);
  if (!body) return mistake;
  const Json& is_on = (*body)["is_on"];
  if (!is_on.is_bool()) return net::problem(400, net::reason_of(400), "is_on is true or false");
  const Status set = services.people.set_sharing(asked.workspace, is_on.as_bool());
  if (set) {
    services.audit.write(asked.workspace, asked.caller.name,
                         is_on.as_bool() ? "share links turned on" : "share links turned off", "");
  }
  return outcome_reply(set, services);
}

// What a page does with the token in its fragment, which no server has been sent before.
net::HttpReply take_share(const HostedCall& asked, HostedServices& services) {
  const net::HttpRequest& request = asked.call.request();
  net::HttpReply mistake;
  const auto body = object_in(request, mistake);
  if (!body) return mistake;
  const std::string network = services.access.network_of(request);
  if (const int wait = services.tries_of_networks.take(network); wait > 0) {
    net::HttpReply busy = net::problem(429, net::reason_of(429), "too many tries; wait a while");
    busy.headers.emplace_back("Retry-After", std::to_string(wait));
    return busy;
  }
  const std::string& token = (*body)["token"].as_string();
  const store::DirectoryPtr directory = services.people.directory();
  const Share* share = directory->share_by_token(token, now_ms());
  if (share == nullptr) return no_such_link();
  // Soon, and many as one: anybody with the link can do this as often as they like.
  services.audit.note(share->workspace, kGuest, "share link used", share->id + " from " + network);
  services.access.note_share_use(share->id);
  net::HttpReply reply =
      json(Json::object().set("page", std::string(kSharedFolder.substr(1)) + "/" + share->id +
                                          "/#/s/" + net::percent_encode(share->session)));
  reply.headers.emplace_back(
      "Set-Cookie", services.access.set_share_cookie(request, share->id, store::share_cookie(token),
                                                     (share->expires_ms - now_ms()) / 1000));
  return reply;
}

}  // namespace

void add_share_routes(HostedRoutes& routes, HostedServices& services) {
  const std::string api = "/w/{workspace}/api/v1/";
  const auto add = [&](Need need, const char* method, const std::string& pattern, const char* id,
                       const char* summary, auto handler) {
    routes.add(need, {.method = method, .pattern = pattern, .id = id, .summary = summary},
               [&services, handler](const HostedCall& call) { return handler(call, services); });
  };
  add(Need::Member, "GET", api + "sharing", "show_sharing",
      "Whether sessions can be shared by links", show_sharing);
  add(Need::Admin, "PUT", api + "sharing", "set_sharing",
      "Lets members share sessions by links, or ends all links", set_sharing);
  routes.add(Need::Member,
             {.pattern = api + "shares",
              .id = "list_shares",
              .summary = "Links to sessions, without their tokens",
              .parameters = {server::text_parameter("session", "Only those to this session.")}},
             [&services](const HostedCall& call) { return list_shares(call, services); });
  add(Need::Member, "POST", api + "shares", "make_share", "A link to a session; it is shown once",
      make_share);
  add(Need::Member, "DELETE", api + "shares/{share}", "revoke_share",
      "Ends a link, and what guests follow by it", revoke_share);
  add(Need::Nothing, "POST", "/api/v1/shared", "take_share", "Gives a cookie for a link's token",
      take_share);
  add(Need::Guest, "GET", std::string(kSharedFolder) + "/{share}/api/v1/shared", "show_share",
      "What the link of the one who asks has in it",
      [](const HostedCall& asked, HostedServices& of) {
        const store::DirectoryPtr directory = of.people.directory();
        const Share* share = directory->share_named(asked.caller.share, now_ms());
        return share == nullptr ? no_such_link() : json(contents_json(*share));
      });
}

}  // namespace gpufl::hosting
