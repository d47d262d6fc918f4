// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/http_message.hpp"

// Request targets and queries as text. Strict where a lenient reading could mean another path to
// somebody else; nothing throws. Any thread.
namespace gpufl::net {

// "%41" as "A". Nothing: a percent sign without two hex digits.
std::optional<std::string> percent_decode(std::string_view text);
// The other way: everything but letters, digits and "-._~" is encoded.
std::string percent_encode(std::string_view text);

// "a=1&b=x+y" as pairs: percent-decoded, plus signs are spaces, a name without "=" has an empty
// value, empty parts are left out. Nothing: a percent sign without two hex digits.
std::optional<NamedTexts> parse_query(std::string_view query);

struct Target {
  std::string path;
  NamedTexts query;
  std::string authority = {};  // of a whole address: "host:80"
};
// What stands in the request line: "/path?query", "http://host/path?query" or, for OPTIONS, "*".
// Nothing: it is none of these, names a user, or has a path that HttpRequest promises not to
// contain.
std::optional<Target> parse_target(std::string_view method, std::string_view target);

}  // namespace gpufl::net
