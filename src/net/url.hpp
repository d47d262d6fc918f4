// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

// Where a client connects to: the parts of an address that a person or an environment variable
// names. Any thread.
namespace gpufl::net {

struct Url {
  bool is_tls = false;
  std::string host;  // a name or an address; of IPv6 without brackets
  uint16_t port = 80;
  std::string path;  // as it was written, without a slash at its end; empty: the root
  // "user:password", percent-decoded; only of proxies.
  std::string user_info;

  std::string authority()
      const;  // "host", "host:8080", "[::1]:8080": the port where it is not the scheme's
  std::string origin() const;  // "https://host:8080"
  bool is_loopback() const;    // localhost, 127.0.0.0/8, ::1
};

// "https://host[:port][/path]", and the same with http. Refused with a sentence: other schemes, a
// query, a fragment, a user unless `may_have_user`, and what is no host or port.
base::Result<Url> parse_url(std::string_view text, bool may_have_user = false);

// Whether both lead to the same server, however they are written: "https://Host:443/" and
// "https://host" do. What is no address is the same as itself.
bool is_same_place(std::string_view a, std::string_view b);

// `text` in base64, as HTTP's Basic credentials have it.
std::string base64(std::string_view text);

}  // namespace gpufl::net
