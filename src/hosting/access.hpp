// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_message.hpp"
#include "server/own_address.hpp"
#include "server/viewer.hpp"
#include "store/people.hpp"

// Who asks, and whether they may. A key comes in a header, a person by a cookie that only this
// server's own pages can make use of. Any thread.
namespace gpufl::hosting {

struct Caller {
  enum class Kind : uint8_t { Nobody, Key, Person, Guest } kind = Kind::Nobody;
  int64_t id = 0;         // of the key or the user
  std::string name;       // for people: of the user, or what the key is called
  int64_t workspace = 0;  // of a key, or of a guest's link
  store::Scope scope = store::Scope::Ingest;
  std::map<int64_t, store::Role> roles;  // of a person, by workspace
  bool is_by_proxy = false;              // of a person: a proxy says so, and there is no cookie
  std::string share;                     // of a guest: the link that they came by
  server::Viewer viewer = {};            // likewise: what they see of the workspace

  bool may_read(int64_t in) const;
  bool has_role(int64_t in, store::Role least) const;
};

// What an endpoint asks of its caller.
enum class Need : uint8_t {
  Nothing,  // it is how people log in
  Person,   // whoever has logged in
  Guest,    // whoever came by the link in the path
  Sender,   // a key that may send
  AnyKey,
  Reader,  // of the workspace in the path: a person, or a key that may read
  Member,
  Admin,
};

// A proxy that has made sure who somebody is, and says so in a header.
struct TrustedProxy {
  std::string header;              // "X-Remote-User"; empty: people log in here
  std::vector<std::string> peers;  // net::usual_address()es from which it and X-Forwarded-For count
};

class Access {
 public:
  Access(store::People& people, uint16_t port, std::optional<server::PublicUrl> public_url,
         TrustedProxy proxy);

  Caller caller_of(const net::HttpRequest& request) const;
  // Before anything else is looked at. Nothing: go ahead. `is_open`: no caller is needed.
  std::optional<net::HttpReply> refuse(const net::HttpRequest& request, const Caller& caller,
                                       bool is_open) const;
  // Whether the caller is still who it was.
  bool still_counts(const Caller& caller, const std::string& cookie) const;
  // The secret of a request's login, of several cookies the one that counts; empty: none does.
  std::string cookie_of(const net::HttpRequest& request) const;
  // A Set-Cookie with that secret; an empty one deletes it.
  std::string set_cookie(const net::HttpRequest& request, const std::string& secret,
                         int64_t max_age_s) const;
  // A Set-Cookie for guests of a link: for addresses below it, and for nothing else.
  std::string set_share_cookie(const net::HttpRequest& request, const std::string& share,
                               const std::string& secret, int64_t max_age_s) const;
  // What a cookie of this server is called: where it can be, so that no other host can set it.
  std::string cookie_name(const net::HttpRequest& request, std::string_view what) const;
  // Who has connected, to the first proxy that is not trusted; a network, where one user has that.
  std::string network_of(const net::HttpRequest& request) const;
  const server::OwnAddress& own() const { return own_; }

  // Keys that were used since the last time, and when.
  std::map<int64_t, int64_t> take_uses();
  void note_share_use(const std::string& share);
  // Likewise of links.
  std::map<std::string, int64_t> take_share_uses();

 private:
  store::People& people_;
  // Of a path of guests: nobody else counts there, and guests nowhere else.
  Caller guest_of(const net::HttpRequest& request, int64_t now_ms) const;
  std::string share_cookie_name(const net::HttpRequest& request) const;
  bool is_trusted(const std::string& address) const;
  // Another program may have made it just now: looks for that, not more often than once a second.
  store::DirectoryPtr directory_with(std::string_view key, int64_t now_ms) const;
  // The user that a trusted proxy names; nothing: none does. An empty name is nobody's.
  std::optional<std::string> named_by_proxy(const net::HttpRequest& request) const;

  const server::OwnAddress own_;
  const TrustedProxy proxy_;
  const std::string port_;
  mutable std::mutex mutex_;
  mutable std::map<int64_t, int64_t> uses_;
  std::map<std::string, int64_t> share_uses_;
  mutable std::chrono::steady_clock::time_point refresh_at_{};
};

int64_t now_ms();
net::HttpReply unauthorized();
// Of a link that ended and of one that never was alike: who guesses is told nothing.
net::HttpReply no_such_link();
// Of what the caller may not know of, too.
net::HttpReply not_found();
net::HttpReply forbidden(std::string_view detail);

}  // namespace gpufl::hosting
