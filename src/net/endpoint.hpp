// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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

// "ADDRESS:PORT", "[V6]:PORT", "PORT" or "ADDRESS"; what is left out comes from `fallback`.
// ":PORT" is refused: elsewhere it means every interface, which must be asked for in words.
base::Result<Endpoint> parse_endpoint(std::string_view text, const Endpoint& fallback);

}  // namespace gpufl::net
