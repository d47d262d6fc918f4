// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "net/http_message.hpp"
#include "server/own_address.hpp"

// Who may ask. Loopback is not a login: every user of a machine can connect to it, and every web
// page can try. So a request names a host that is meant, comes from no other site, and carries a
// secret that only the one who started the server was shown. Any thread.
namespace gpufl::server {

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
  bool has_secret(const net::HttpRequest& request) const;

  OwnAddress own_;
  std::string token_, cookie_;  // two, so that who reads a cookie does not have the token
  std::string cookie_name_;
};

}  // namespace gpufl::server
