// SPDX-License-Identifier: Apache-2.0
#include "hosting/access.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "hosting/shared_path.hpp"
#include "net/endpoint.hpp"
#include "net/fields.hpp"

namespace gpufl::hosting {

using store::Role;
using store::Scope;

namespace {
constexpr std::string_view kLogin = "session";
}

bool Caller::may_read(int64_t in) const {
  if (kind == Kind::Key) return workspace == in && scope == Scope::Read;
  return has_role(in, Role::Viewer);
}

bool Caller::has_role(int64_t in, Role least) const {
  if (kind != Kind::Person) return false;
  const auto role = roles.find(in);
  return role != roles.end() && role->second >= least;
}

int64_t now_ms() { return base::wall_ns() / 1'000'000; }

net::HttpReply unauthorized() {
  net::HttpReply reply = net::problem(
      401, "Who are you?",
      "log in, or send a key as 'Authorization: Bearer gpfl_...'; keys expire and can be revoked");
  reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

net::HttpReply no_such_link() {
  return net::problem(401, "The link does not count",
                      "it has expired, or somebody has ended it; ask whoever sent it");
}

net::HttpReply not_found() { return net::problem(404); }

net::HttpReply forbidden(std::string_view detail) {
  return net::problem(403, net::reason_of(403), detail);
}

Access::Access(store::People& people, uint16_t port, std::optional<server::PublicUrl> public_url,
               TrustedProxy proxy)
    : people_(people),
      own_(port, std::move(public_url)),
      proxy_(std::move(proxy)),
      port_(std::to_string(port)) {}

std::string Access::cookie_name(const net::HttpRequest& request, std::string_view what) const {
  // Browsers take a cookie with this prefix from the host itself only, encrypted, for all of it.
  const bool can_be_pinned = own_.is_secure(request.header("Host")) && own_.cookie_path() == "/";
  return (can_be_pinned ? "__Host-gpufl_" : "gpufl_") + std::string(what) + "_" + port_;
}

std::string Access::cookie_of(const net::HttpRequest& request) const {
  const store::DirectoryPtr directory = people_.directory();
  const int64_t now = now_ms();
  for (std::string& secret : net::cookies_of(request, cookie_name(request, kLogin))) {
    if (directory->user_of(secret, now) != nullptr) return std::move(secret);
  }
  return {};
}

bool Access::is_trusted(const std::string& address) const {
  const auto usual = net::usual_address(address);
  return usual && std::find(proxy_.peers.begin(), proxy_.peers.end(), *usual) != proxy_.peers.end();
}

std::string Access::network_of(const net::HttpRequest& request) const {
  std::string client = net::usual_address(request.peer).value_or(request.peer);
  if (is_trusted(client)) {
    // Each proxy adds whom it heard; what stands before the first that is not ours may be made up.
    const std::string chain = request.header("X-Forwarded-For");
    const std::vector<std::string_view> hops = net::split_list(chain);
    for (auto hop = hops.rbegin(); hop != hops.rend() && is_trusted(client); ++hop) {
      const auto address = net::usual_address(*hop);
      if (!address) break;
      client = *address;
    }
  }
  return net::network_of(client);
}

std::optional<std::string> Access::named_by_proxy(const net::HttpRequest& request) const {
  if (proxy_.header.empty() || !is_trusted(request.peer)) return std::nullopt;
  if (!request.has_header(proxy_.header)) return std::nullopt;
  const auto times = std::count_if(
      request.headers.begin(), request.headers.end(),
      [&](const auto& field) { return net::equals_ignoring_case(field.first, proxy_.header); });
  // One of several was the client's own, and it cannot be known which.
  return times == 1 ? request.header(proxy_.header) : std::string();
}

store::DirectoryPtr Access::directory_with(std::string_view key, int64_t now_ms) const {
  store::DirectoryPtr directory = people_.directory();
  if (directory->key_of(key, now_ms) != nullptr || !store::is_key_text(key)) return directory;
  const auto at = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (at < refresh_at_) return directory;
    refresh_at_ = at + std::chrono::seconds(1);
  }
  // Where the file cannot be read now, what was known before counts. The network's thread is here,
  // so nobody waits for those who write.
  people_.refresh_unless_busy();
  return people_.directory();
}

std::string Access::share_cookie_name(const net::HttpRequest& request) const {
  // The prefix that pins a cookie to its host is for those of all paths only.
  const bool is_secure = own_.is_secure(request.header("Host"));
  return (is_secure ? "__Secure-gpufl_shared_" : "gpufl_shared_") + port_;
}

std::string Access::set_share_cookie(const net::HttpRequest& request, const std::string& share,
                                     const std::string& secret, int64_t max_age_s) const {
  std::string path = own_.cookie_path();
  if (path.ends_with('/')) path.pop_back();
  path += std::string(kSharedFolder) + "/" + share + "/";
  return net::set_cookie(share_cookie_name(request), secret, path, max_age_s,
                         own_.is_secure(request.header("Host")));
}

Caller Access::guest_of(const net::HttpRequest& request, int64_t now_ms) const {
  const store::DirectoryPtr directory = people_.directory();
  const std::string_view id = split_shared_path(request.path).share;
  Caller caller;
  for (const std::string& secret : net::cookies_of(request, share_cookie_name(request))) {
    const store::Share* share = directory->share_by_cookie(id, secret, now_ms);
    if (share == nullptr) continue;
    caller.kind = Caller::Kind::Guest;
    caller.name = "guest";
    caller.workspace = share->workspace;
    caller.share = share->id;
    caller.viewer = {.session = share->session,
                     .sees_source = share->with_source,
                     .sees_command = share->with_command,
                     .sees_files = share->with_files};
    break;
  }
  return caller;
}

Caller Access::caller_of(const net::HttpRequest& request) const {
  const int64_t now = now_ms();
  if (is_shared_path(request.path)) return guest_of(request, now);
  Caller caller;
  // Who shows a key means it, whatever cookie the browser adds. Names and passwords of other kinds
  // are for the proxy before this server.
  if (const std::string bearer = server::bearer_of(request); !bearer.empty()) {
    const store::DirectoryPtr directory = directory_with(bearer, now);
    const store::ApiKey* key = directory->key_of(bearer, now);
    if (key == nullptr) return caller;
    const std::lock_guard lock(mutex_);
    uses_[key->id] = now;
    caller.kind = Caller::Kind::Key;
    caller.id = key->id;
    caller.name = key->label;
    caller.workspace = key->workspace;
    caller.scope = key->scope;
    return caller;
  }
  const store::DirectoryPtr directory = people_.directory();
  const auto name = named_by_proxy(request);
  const store::User* user =
      name ? directory->user_named(*name) : directory->user_of(cookie_of(request), now);
  if (user == nullptr || user->is_disabled) return caller;
  caller.is_by_proxy = name.has_value();
  caller.kind = Caller::Kind::Person;
  caller.id = user->id;
  caller.name = user->name;
  caller.roles = user->roles;
  return caller;
}

bool Access::still_counts(const Caller& caller, const std::string& cookie) const {
  const store::DirectoryPtr directory = people_.directory();
  if (caller.kind == Caller::Kind::Guest) {
    return directory->share_named(caller.share, now_ms()) != nullptr;
  }
  if (caller.kind == Caller::Kind::Key) {
    for (const auto& [hash, key] : directory->keys) {
      if (key.id == caller.id) return key.is_valid(now_ms());
    }
    return false;
  }
  if (caller.is_by_proxy) {
    const auto named = directory->users.find(caller.id);
    return named != directory->users.end() && !named->second.is_disabled &&
           named->second.roles == caller.roles;
  }
  const store::User* user = directory->user_of(cookie, now_ms());
  return user != nullptr && user->id == caller.id && user->roles == caller.roles;
}

std::optional<net::HttpReply> Access::refuse(const net::HttpRequest& request, const Caller& caller,
                                             bool is_open) const {
  // No page can make a browser send a key, and who shows one has no cookie: the rest is about
  // those.
  if (caller.kind == Caller::Kind::Key) return std::nullopt;
  const bool is_for_guests = is_shared_path(request.path);
  if (!is_open && !is_for_guests && !server::bearer_of(request).empty()) return unauthorized();
  if (!own_.is_known_host(request.header("Host"))) {
    return net::problem(421, "Unknown host",
                        "this server answers to localhost with its port, and to the host of "
                        "--public-url");
  }
  const bool changes =
      request.method != "GET" && request.method != "HEAD" && request.method != "OPTIONS";
  // Pages may be opened from a link elsewhere; without its cookie the request is nobody's.
  if (own_.is_foreign(request) && (changes || !is_open)) {
    return net::problem(403, "Another site's request",
                        "pages of other sites may not use this server");
  }
  if (is_open) return std::nullopt;
  if (caller.kind == Caller::Kind::Nobody) return is_for_guests ? no_such_link() : unauthorized();
  if (is_for_guests && changes) return forbidden("a link is for reading");
  // Browsers say where a request that changes something comes from.
  const bool says_origin = request.has_header("Origin") || request.has_header("Sec-Fetch-Site");
  if (changes && !says_origin) {
    return net::problem(403, "No origin",
                        "what changes something comes from this server's pages, or has a key");
  }
  return std::nullopt;
}

std::string Access::set_cookie(const net::HttpRequest& request, const std::string& secret,
                               int64_t max_age_s) const {
  return net::set_cookie(cookie_name(request, kLogin), secret, own_.cookie_path(), max_age_s,
                         own_.is_secure(request.header("Host")));
}

std::map<int64_t, int64_t> Access::take_uses() {
  const std::lock_guard lock(mutex_);
  return std::exchange(uses_, {});
}

void Access::note_share_use(const std::string& share) {
  const std::lock_guard lock(mutex_);
  share_uses_[share] = now_ms();
}

std::map<std::string, int64_t> Access::take_share_uses() {
  const std::lock_guard lock(mutex_);
  return std::exchange(share_uses_, {});
}

}  // namespace gpufl::hosting
