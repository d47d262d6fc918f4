// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "net/http_message.hpp"

// Who may ask. Loopback is not a login: every user of a machine can connect to it, and every web
// page can try. So a request names a host that is meant, comes from no other site, and carries a
// secret that only the one who started the server was shown. Any thread.
namespace gpufl::server {

// Where users see the server, if a proxy stands before it.
struct PublicUrl {
  std::string scheme;     // "http", "https"
  std::string authority;  // "host" or "host:port", lower case, without the scheme's usual port
  std::string prefix;     // "/gpu%20lab" as addresses have it, or empty
  std::string path;       // the same as requests have it: "/gpu lab"
};
// InvalidArgument: it is not an http or https URL, or has a query, a user or a fragment, a port
// that there cannot be, or a path that a request cannot have or that begins as one of ours does.
base::Result<PublicUrl> parse_public_url(std::string_view text);

class AccessGuard {
 public:
  // With secrets from the system's random numbers.
  AccessGuard(uint16_t port, std::optional<PublicUrl> public_url);

  // What is to be said before a request's body is read: a refusal, or the redirect that takes a
  // token. `is_open`: the path is answered without one. Trusted is who has the token or its cookie.
  net::HeadVerdict check(const net::HttpRequest& head, bool is_open) const;

  // Nothing: go ahead. An open path is one only without a body, which nobody reads there.
  std::optional<net::HttpReply> refuse(const net::HttpRequest& request, bool is_open) const;
  // "?token=..." becomes a cookie, by a redirect that drops it from the address. Nothing: the
  // request has none.
  std::optional<net::HttpReply> take_token(const net::HttpRequest& request) const;

  const std::string& token() const { return token_; }
  const std::string& cookie_name() const { return cookie_name_; }

 private:
  bool is_known_host(std::string_view host) const;
  bool is_public_host(std::string_view host) const;
  bool is_own_origin(std::string_view origin) const;
  bool has_secret(const net::HttpRequest& request) const;

  uint16_t port_;
  std::optional<PublicUrl> public_url_;
  std::string token_, cookie_;  // two, so that who reads a cookie does not have the token
  std::string cookie_name_;
};

}  // namespace gpufl::server
