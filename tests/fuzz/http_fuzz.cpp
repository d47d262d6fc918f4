// SPDX-License-Identifier: Apache-2.0
// Bytes of a client that means no good, given to everything that reads requests: as a request,
// whole and in pieces, as a target, and as values of fields. What is accepted has to keep the
// promises of HttpRequest, and arriving in pieces must not change what was said.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/answer.hpp"
#include "net/fields.hpp"
#include "net/request_parser.hpp"
#include "net/target.hpp"

namespace gpufl::net {
namespace {

using State = RequestParser::State;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_path(std::string_view path) {
  require(path.starts_with('/') || path == "*");
  require(path.find('\0') == std::string_view::npos && path.find("//") == std::string_view::npos);
  require(path.find("/../") == std::string_view::npos && !path.ends_with("/.."));
  require(path.find("/./") == std::string_view::npos && !path.ends_with("/."));
}

struct Outcome {
  State state = State::Head;
  int refusal = 0;
  std::string method, path, body;

  bool operator==(const Outcome&) const = default;
};

Outcome parse(std::string_view bytes, size_t step, const HttpLimits& limits) {
  RequestParser parser(limits);
  std::string in;
  while (true) {
    const size_t used = parser.feed(in);
    require(used <= in.size());
    in.erase(0, used);
    if (parser.state() == State::Complete || parser.state() == State::Refused) break;
    require(in.size() <= limits.header_bytes);
    if (bytes.empty()) break;
    in += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  HttpRequest& request = parser.request();
  require(request.body.size() <= limits.body_bytes);
  require((parser.state() == State::Refused) == (parser.refusal() >= 400));
  if (parser.state() == State::Complete) {
    check_path(request.path);
    make_answer(problem(404), request, parser.keeps_alive());
  }
  return {parser.state(), parser.refusal(), request.method, request.path, request.body};
}

void read_request(std::string_view bytes) {
  HttpLimits limits;
  limits.target_bytes = 256;
  limits.header_bytes = 1024;
  limits.body_bytes = 512;
  const Outcome small = parse(bytes, 1, limits);
  for (const size_t step : {size_t{7}, size_t{64}}) {
    const Outcome larger = parse(bytes, step, limits);
    require((small.state == State::Complete) == (larger.state == State::Complete));
    if (small.state == State::Complete) require(small == larger);
  }
}

void read_fields(std::string_view bytes) {
  for (const std::string_view member : split_list(bytes)) require(!member.empty());
  for (const auto& [name, value] : parse_cookies(bytes)) {
    require(name.size() + value.size() < bytes.size());
  }
  name_of(choose_encoding(bytes));
  matches_etag(bytes, "\"0123456789abcdef\"");
  require(percent_decode(percent_encode(bytes)) == bytes);
  for (const char* method : {"GET", "OPTIONS"}) {
    if (const auto target = parse_target(method, bytes)) check_path(target->path);
  }
  if (const auto query = parse_query(bytes)) {
    std::string again;
    for (const auto& [name, value] : *query) {
      again += percent_encode(name) + "=" + percent_encode(value) + "&";
    }
    require(parse_query(again) == query);
  }
}

}  // namespace
}  // namespace gpufl::net

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  gpufl::net::read_request(bytes);
  gpufl::net::read_fields(bytes);
  return 0;
}
