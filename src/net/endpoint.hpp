// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"

// Where a server listens: a numeric address and a port. Names are not looked up, but for
// "localhost", so that what a user wrote is what is opened.
namespace gpufl::net {

struct Endpoint {
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0: the system picks a free one

  bool is_loopback() const;
  std::string text() const;  // "127.0.0.1:80", "[::1]:80"
};

// A numeric address as the system writes it: "::1" for "0:0::1", and an address of IPv4 that comes
// by way of IPv6 as what it is. Nothing: it is none.
std::optional<std::string> usual_address(std::string_view text);
// Of one, what belongs to one user as a rule: an address of IPv4, the first half of one of IPv6.
std::string network_of(const std::string& address);

// "ADDRESS:PORT", "[V6]:PORT", "PORT" or "ADDRESS"; what is left out comes from `fallback`.
// ":PORT" is refused: elsewhere it means every interface, which must be asked for in words.
base::Result<Endpoint> parse_endpoint(std::string_view text, const Endpoint& fallback);

}  // namespace gpufl::net
