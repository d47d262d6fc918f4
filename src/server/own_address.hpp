// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "net/http_message.hpp"

// Under which addresses users see a server, and which requests are its own pages'. Any thread.
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

// What a request shows as "Authorization: Bearer ..."; empty: nothing.
std::string bearer_of(const net::HttpRequest& request);

class OwnAddress {
 public:
  OwnAddress(uint16_t port, std::optional<PublicUrl> public_url);

  // Of loopback with the port, or that of the public address.
  bool is_known_host(std::string_view host) const;
  // A page of another site asks.
  bool is_foreign(const net::HttpRequest& request) const;
  // What is sent to that host travels encrypted.
  bool is_secure(std::string_view host) const;
  std::string prefix() const { return public_url_ ? public_url_->prefix : ""; }
  std::string cookie_path() const;

 private:
  bool is_public_host(std::string_view host) const;
  bool is_own_origin(std::string_view origin) const;

  uint16_t port_;
  std::optional<PublicUrl> public_url_;
};

}  // namespace gpufl::server
