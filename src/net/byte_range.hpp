// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "net/http_message.hpp"

// Parts of an answer that a client asks for by `Range: bytes=...` (RFC 9110, 14). One range at a
// time: several are answered with the whole, as every server may. Plain values, any thread.
namespace gpufl::net {

struct ByteRange {
  enum class Kind : unsigned char { Whole, Part, Impossible };
  Kind kind = Kind::Whole;
  uint64_t first = 0, bytes = 0;  // what to send; nothing of an impossible one
};

// What a request wants of something that has `size` bytes and this strong entity tag; "": none.
// Where If-Range names another tag it is the whole.
ByteRange asked_range(const HttpRequest& request, uint64_t size, std::string_view etag);

// `reply`, which has these bytes, as 206 of a part and 416 of an impossible one. Says that ranges
// can be asked for. What was not answered with 200 stays as it is.
HttpReply with_range(HttpReply reply, const ByteRange& range, uint64_t size);

}  // namespace gpufl::net
