// SPDX-License-Identifier: Apache-2.0
#include "net/request_parser.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <charconv>
#include <limits>
#include <utility>

#include "net/fields.hpp"
#include "net/target.hpp"

namespace gpufl::net {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using BeastText = boost::beast::string_view;

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr size_t kLongestMethod = 32;
constexpr size_t kVersionBytes = std::string_view("HTTP/1.1").size();

std::string_view plain(BeastText text) { return {text.data(), text.size()}; }

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

size_t count(const NamedTexts& headers, std::string_view name) {
  return static_cast<size_t>(std::count_if(headers.begin(), headers.end(), [&](const auto& field) {
    return equals_ignoring_case(field.first, name);
  }));
}

// Puts what Beast recognises of a head into a request.
struct HeadGrammar : http::basic_parser<true> {
  explicit HeadGrammar(HttpRequest& request_in) : request(request_in) {
    // Checked below, with the rest of the framing. Without a limit, 1.74 refuses every body.
    body_limit(std::numeric_limits<uint64_t>::max());
  }

  void on_request_impl(http::verb, BeastText method, BeastText target_in, int version,
                       error_code& error) override {
    request.method = plain(method);
    request.is_http_1_0 = version < 11;
    target = plain(target_in);
    error = {};
  }
  void on_field_impl(http::field, BeastText name, BeastText value, error_code& error) override {
    request.headers.emplace_back(plain(name), plain(value));
    error = {};
  }
  void on_header_impl(error_code& error) override { error = {}; }
  void on_finish_impl(error_code& error) override { error = {}; }
  // Of bodies and responses, which it does not get to see.
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}
  size_t on_body_impl(BeastText, error_code&) override { return 0; }
  void on_chunk_header_impl(uint64_t, BeastText, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, BeastText, error_code&) override { return 0; }
  void on_response_impl(int, BeastText, int, error_code&) override {}

  HttpRequest& request;
  std::string target;
};

}  // namespace

RequestParser::RequestParser(const HttpLimits& limits, BodyBound bound)
    : limits_(limits), bound_(std::move(bound)) {
  request_.method.clear();  // until there is one
  request_.path.clear();
}

bool RequestParser::refuse(int status, std::string_view reason) {
  state_ = State::Refused;
  refusal_ = status;
  reason_ = reason;
  return false;
}

size_t RequestParser::feed(std::string_view bytes) {
  size_t used = 0;
  if (state_ == State::Head) {
    // Some clients send an empty line behind a body.
    while (bytes.starts_with(kLineEnd) && scanned_ == 0) {
      bytes.remove_prefix(kLineEnd.size());
      used += kLineEnd.size();
      skipped_ += kLineEnd.size();
    }
    size_t size = 0;
    if (!find_head(bytes, size)) return used;
    read_head(bytes.substr(0, size));
    bytes.remove_prefix(size);
    used += size;
  }
  if (state_ == State::Body) used += read_body(bytes);
  return used;
}

// True when it is all there. Limits are checked here, before anything else looks at it.
bool RequestParser::find_head(std::string_view bytes, size_t& size) {
  const auto is_method = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  if (!bytes.empty() && bytes != "\r" && !is_method(bytes.front())) {
    return refuse(400, "the request does not begin with a method");  // TLS, most likely
  }
  const size_t end = bytes.find(kHeadEnd, scanned_);
  const bool is_found = end != std::string_view::npos;
  scanned_ = bytes.size() < kHeadEnd.size() ? 0 : bytes.size() - kHeadEnd.size() + 1;
  size = is_found ? end + kHeadEnd.size() : bytes.size();

  const size_t line_end = bytes.find(kLineEnd);
  if (line_end == std::string_view::npos) {
    if (bytes.size() > kLongestMethod + limits_.target_bytes + kVersionBytes) {
      return refuse(414, "the request line is too long");
    }
  } else if (!check_request_line(bytes.substr(0, line_end))) {
    return false;
  }
  if (size + skipped_ > limits_.header_bytes) {
    return refuse(431, "the header fields are too long");
  }
  return is_found;
}

bool RequestParser::check_request_line(std::string_view line) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == last || first > kLongestMethod) {
    return refuse(400, "the request line is not METHOD TARGET VERSION");
  }
  if (last - first - 1 > limits_.target_bytes) {
    return refuse(414, "the request target is too long");
  }
  if (line.substr(first + 1, last - first - 1).find(' ') != std::string_view::npos) {
    return refuse(400, "the request target has a space in it");
  }
  return true;
}

void RequestParser::read_head(std::string_view head) {
  // A line that continues the one before is read differently by different programs.
  if (head.find("\r\n ") != std::string_view::npos ||
      head.find("\r\n\t") != std::string_view::npos) {
    refuse(400, "a header field goes over more than one line");
    return;
  }
  HeadGrammar grammar(request_);
  grammar.header_limit(static_cast<uint32_t>(limits_.header_bytes));
  error_code error;
  grammar.put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error == http::error::bad_version) {
    refuse(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
  } else if (error || !grammar.is_header_done()) {
    refuse(400, "the request is malformed: " + error.message());
  } else if (check_framing() && check_fields(grammar.target)) {
    // HTTP/1.0 without keep-alive: nothing that still speaks it gains by it.
    keeps_alive_ = !request_.is_http_1_0 && grammar.keep_alive();
    begin_body();
  }
}

// Where the request ends must be clear to everybody between the client and us.
bool RequestParser::check_framing() {
  const NamedTexts& headers = request_.headers;
  if (count(headers, "Content-Length") > 1 ||
      (request_.has_header("Content-Length") && !is_number(request_.header("Content-Length")))) {
    return refuse(400, "the Content-Length is ambiguous");
  }
  if (request_.has_header("Transfer-Encoding")) {
    if (request_.has_header("Content-Length") || request_.is_http_1_0) {
      return refuse(400, "the length of the body is ambiguous");
    }
    if (!equals_ignoring_case(request_.header("Transfer-Encoding"), "chunked")) {
      return refuse(501, "the only transfer coding that is known here is chunked");
    }
  }
  return true;
}

bool RequestParser::check_fields(std::string_view target) {
  const size_t hosts = count(request_.headers, "Host");
  if (hosts > 1 || (hosts == 0 && !request_.is_http_1_0)) {
    return refuse(400, "there must be one Host field");
  }
  auto parsed = parse_target(request_.method, target);
  if (!parsed) return refuse(400, "the request target is malformed");
  if (!parsed->authority.empty()) {
    // It is the one that counts (RFC 9112, 3.2.2), so it is the one that handlers check.
    std::erase_if(request_.headers,
                  [](const auto& field) { return equals_ignoring_case(field.first, "Host"); });
    request_.headers.emplace_back("Host", std::move(parsed->authority));
  }
  request_.path = std::move(parsed->path);
  request_.query = std::move(parsed->query);
  const bool expects = request_.has_header("Expect");
  if (expects && !equals_ignoring_case(request_.header("Expect"), "100-continue")) {
    return refuse(417, "the only expectation that is known here is 100-continue");
  }
  wants_continue_ = expects && !request_.is_http_1_0;
  return true;
}

bool RequestParser::begin_body() {
  const size_t most = bound_ ? bound_(request_) : limits_.body_bytes;
  if (request_.has_header("Transfer-Encoding")) {
    chunks_.emplace(most, limits_.header_bytes);
  } else if (const std::string length = request_.header("Content-Length"); !length.empty()) {
    const auto [end, error] =
        std::from_chars(length.data(), length.data() + length.size(), body_left_);
    if (error != std::errc{} || body_left_ > most) {
      return refuse(413, "the body is too long");
    }
  }
  state_ = chunks_ || body_left_ > 0 ? State::Body : State::Complete;
  return true;
}

size_t RequestParser::read_body(std::string_view bytes) {
  if (bytes.empty()) return 0;
  wants_continue_ = false;
  if (!chunks_) {
    const size_t taken = std::min(body_left_, bytes.size());
    request_.body += bytes.substr(0, taken);
    body_left_ -= taken;
    if (body_left_ == 0) state_ = State::Complete;
    return taken;
  }
  const size_t used = chunks_->feed(bytes, request_.body);
  switch (chunks_->state()) {
    case ChunkDecoder::State::More: break;
    case ChunkDecoder::State::Done: state_ = State::Complete; break;
    case ChunkDecoder::State::Malformed: refuse(400, "a chunk of the body is malformed"); break;
    case ChunkDecoder::State::TooLong: refuse(413, "the body is too long"); break;
  }
  return used;
}

}  // namespace gpufl::net
