// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_message.hpp"

// Values of header fields that handlers and the server need to understand: lists, cookies,
// encodings, entity tags. Whatever a client sends is understood or ignored; nothing throws. Any
// thread.
namespace gpufl::net {

// Members of a comma-separated list, trimmed, without empty ones. Commas in quoted strings do not
// separate.
std::vector<std::string_view> split_list(std::string_view value);

// In order; pairs that are not NAME=VALUE are left out, quotes around a value are removed.
NamedTexts parse_cookies(std::string_view value);
// Those of that name that a request has: servers on other ports of a host, and on other hosts of a
// domain, can set one of the same name.
std::vector<std::string> cookies_of(const HttpRequest& request, std::string_view name);
// Strict: no request that begins on another site has the cookie. Lax: opening a link has it.
enum class SameSite : unsigned char { Strict, Lax };
// A Set-Cookie value with HttpOnly, for `path` and what is below it.
// `max_age_s`: 0 deletes it, negative: it ends with the browser's session. `value` must have no
// separators: hex or base64url.
std::string set_cookie(std::string_view name, std::string_view value, std::string_view path,
                       int64_t max_age_s, bool is_secure, SameSite same_site = SameSite::Strict);

enum class Encoding : unsigned char { Identity, Gzip, Zstd };
// What an Accept-Encoding value asks for, of those that we have: the one with the highest q; of
// equals zstd, then gzip.
Encoding choose_encoding(std::string_view accept_encoding);
// Whether gzip is among what it accepts, for content that there is in that form already.
bool accepts_gzip(std::string_view accept_encoding);
// "gzip"; "" for Identity.
std::string_view name_of(Encoding encoding);

// `"0123456789abcdef"`, of the content's hash.
std::string etag_of(std::string_view content);
// Whether an If-None-Match value names the tag. Weak comparison.
bool matches_etag(std::string_view if_none_match, std::string_view etag);
// `reply` with that ETag; without its body as 304 when the client has it already. Only what was
// answered with 200 can be had already. Sets `Cache-Control: no-cache` unless there is one: kept,
// but asked for each time.
HttpReply with_etag(const HttpRequest& request, HttpReply reply, std::string_view etag);

}  // namespace gpufl::net
