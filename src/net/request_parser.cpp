// SPDX-License-Identifier: Apache-2.0
#include "net/request_parser.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
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

}  // namespace

// Puts what Beast recognises into the request.
struct RequestParser::Grammar : http::basic_parser<true> {
  explicit Grammar(HttpRequest& request_in) : request(request_in) {}

  void on_request_impl(http::verb, BeastText method, BeastText target_in, int version,
                       error_code& error) override {
    request.method = plain(method);
    request.is_http_1_0 = version < 11;
    target = plain(target_in);
    error = {};
  }
  void on_field_impl(http::field, BeastText name, BeastText value, error_code& error) override {
    // Fields behind a chunked body are nobody's: none that a handler asks for may come that late.
    if (!is_head_done) request.headers.emplace_back(plain(name), plain(value));
    error = {};
  }
  void on_header_impl(error_code& error) override {
    is_head_done = true;
    error = {};
  }
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code& error) override {
    error = {};
  }
  size_t on_body_impl(BeastText body, error_code& error) override {
    request.body += plain(body);
    error = {};
    return body.size();
  }
  void on_chunk_header_impl(uint64_t, BeastText, error_code& error) override { error = {}; }
  size_t on_chunk_body_impl(uint64_t, BeastText body, error_code& error) override {
    return on_body_impl(body, error);
  }
  void on_finish_impl(error_code& error) override { error = {}; }
  void on_response_impl(int, BeastText, int, error_code& error) override { error = {}; }

  HttpRequest& request;
  std::string target;
  bool is_head_done = false;
};

RequestParser::RequestParser(const HttpLimits& limits)
    : limits_(limits), grammar_(std::make_unique<Grammar>(request_)) {
  request_.method.clear();  // until there is one
  request_.path.clear();
  grammar_->body_limit(static_cast<uint64_t>(limits.body_bytes));
  grammar_->header_limit(static_cast<uint32_t>(limits.header_bytes));
}

RequestParser::~RequestParser() = default;

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
  error_code error;
  grammar_->put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error == http::error::body_limit) {
    check_framing() && refuse(413, "the body is too long");
    return;
  }
  if (error == http::error::bad_version) {
    refuse(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    return;
  }
  if (error || !grammar_->is_header_done()) {
    refuse(400, "the request is malformed: " + error.message());
    return;
  }
  if (!check_framing() || !check_fields()) return;
  state_ = grammar_->is_done() ? State::Complete : State::Body;
  wants_continue_ = wants_continue_ && state_ == State::Body;
  grammar_->eager(true);
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

bool RequestParser::check_fields() {
  const size_t hosts = count(request_.headers, "Host");
  if (hosts > 1 || (hosts == 0 && !request_.is_http_1_0)) {
    return refuse(400, "there must be one Host field");
  }
  auto target = parse_target(request_.method, grammar_->target);
  if (!target) return refuse(400, "the request target is malformed");
  request_.path = std::move(target->path);
  request_.query = std::move(target->query);
  // HTTP/1.0 without keep-alive: nothing that still speaks it gains by it.
  keeps_alive_ = !request_.is_http_1_0 && grammar_->keep_alive();
  if (request_.has_header("Expect")) {
    if (!equals_ignoring_case(request_.header("Expect"), "100-continue")) {
      return refuse(417, "the only expectation that is known here is 100-continue");
    }
    wants_continue_ = !request_.is_http_1_0;
  }
  return true;
}

size_t RequestParser::read_body(std::string_view bytes) {
  if (bytes.empty()) return 0;
  wants_continue_ = false;
  error_code error;
  const size_t used = grammar_->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  if (error == http::error::need_more) {
    // Only the line that begins a chunk, and what follows the last, have to be there whole.
    if (bytes.size() - used > limits_.header_bytes) refuse(400, "a line of a chunk is too long");
  } else if (error == http::error::body_limit) {
    refuse(413, "the body is too long");
  } else if (error) {
    refuse(400, "the body is malformed: " + error.message());
  } else if (grammar_->is_done()) {
    state_ = State::Complete;
  }
  return used;
}

}  // namespace gpufl::net
