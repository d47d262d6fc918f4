// SPDX-License-Identifier: Apache-2.0
#include "net/byte_range.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

namespace gpufl::net {
namespace {

using Kind = ByteRange::Kind;

// Numbers that are too large for us are larger than every file. Nothing: it is no number.
std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return UINT64_MAX;
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// "0-99", "100-" or, for the last ones, "-100". Nothing: it is not understood.
std::optional<ByteRange> parse(std::string_view text, uint64_t size) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = number_of(text.substr(0, dash));
  const auto last = number_of(text.substr(dash + 1));
  if (dash == 0) {
    if (!last) return std::nullopt;
    const uint64_t bytes = std::min(*last, size);
    if (bytes == 0) return ByteRange{Kind::Impossible};
    return ByteRange{Kind::Part, size - bytes, bytes};
  }
  const bool is_open = dash + 1 == text.size();
  if (!first || (!is_open && (!last || *last < *first))) return std::nullopt;
  if (*first >= size) return ByteRange{Kind::Impossible};
  const uint64_t end = is_open ? size : std::min(*last, size - 1) + 1;
  return ByteRange{Kind::Part, *first, end - *first};
}

}  // namespace

ByteRange asked_range(const HttpRequest& request, uint64_t size, std::string_view etag) {
  const ByteRange whole{Kind::Whole, 0, size};
  const std::string value = request.header("Range");
  constexpr std::string_view kUnit = "bytes=";
  const std::string_view text = value;
  if (request.method != "GET" || !equals_ignoring_case(text.substr(0, kUnit.size()), kUnit)) {
    return whole;
  }
  // By tags only, and not by weak ones: bytes have to be the same.
  if (request.has_header("If-Range") && (etag.empty() || request.header("If-Range") != etag)) {
    return whole;
  }
  return parse(text.substr(kUnit.size()), size).value_or(whole);
}

HttpReply with_range(HttpReply reply, const ByteRange& range, uint64_t size) {
  if (reply.status != 200) return reply;
  const std::string all = std::to_string(size);
  if (range.kind == Kind::Impossible) {
    reply = problem(416, reason_of(416), "there are " + all + " bytes");
    reply.headers.emplace_back("Content-Range", "bytes */" + all);
  }
  reply.headers.emplace_back("Accept-Ranges", "bytes");
  if (range.kind != Kind::Part) return reply;
  reply.status = 206;
  reply.headers.emplace_back("Content-Range", "bytes " + std::to_string(range.first) + "-" +
                                                  std::to_string(range.first + range.bytes - 1) +
                                                  "/" + all);
  return reply;
}

}  // namespace gpufl::net
