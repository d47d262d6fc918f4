// SPDX-License-Identifier: Apache-2.0
#include "net/reply_parser.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <charconv>
#include <limits>
#include <utility>

#include "net/fields.hpp"

namespace gpufl::net {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using BeastText = boost::beast::string_view;

constexpr std::string_view kHeadEnd = "\r\n\r\n";

std::string text_of(BeastText text) { return {text.data(), text.size()}; }

// Puts what Beast recognises of a head into a reply.
struct ReplyGrammar : http::basic_parser<false> {
  explicit ReplyGrammar(ClientReply& reply_in) : reply(reply_in) {
    body_limit(std::numeric_limits<uint64_t>::max());  // checked with the framing
  }

  void on_response_impl(int status, BeastText, int, error_code& error) override {
    reply.status = status;
    error = {};
  }
  void on_field_impl(http::field, BeastText name, BeastText value, error_code& error) override {
    reply.headers.emplace_back(text_of(name), text_of(value));
    error = {};
  }
  void on_header_impl(error_code& error) override { error = {}; }
  void on_finish_impl(error_code& error) override { error = {}; }
  // Of requests and bodies, which it does not get to see.
  void on_request_impl(http::verb, BeastText, BeastText, int, error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}
  size_t on_body_impl(BeastText, error_code&) override { return 0; }
  void on_chunk_header_impl(uint64_t, BeastText, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, BeastText, error_code&) override { return 0; }

  ClientReply& reply;
};

size_t times_named(const NamedTexts& headers, std::string_view name) {
  return static_cast<size_t>(std::count_if(headers.begin(), headers.end(), [&](const auto& field) {
    return equals_ignoring_case(field.first, name);
  }));
}

}  // namespace

std::string ClientReply::header(std::string_view name) const {
  const std::string* const found = find_header(headers, name);
  return found == nullptr ? "" : *found;
}

ReplyParser::ReplyParser(size_t max_head_bytes, size_t max_body_bytes, bool has_body)
    : max_head_bytes_(max_head_bytes), max_body_bytes_(max_body_bytes), has_body_(has_body) {}

ReplyParser::State ReplyParser::refuse(std::string_view reason) {
  reason_ = reason;
  return state_ = State::Refused;
}

ReplyParser::State ReplyParser::feed(std::string_view bytes) {
  has_begun_ = has_begun_ || !bytes.empty();
  if (state_ != State::More) return state_;
  rest_ += bytes;
  while (state_ == State::More && !is_in_body_) {
    if (!read_head()) return state_;
  }
  if (state_ == State::More) read_body();
  return state_;
}

ReplyParser::State ReplyParser::end() {
  if (state_ != State::More) return state_;
  if (is_in_body_ && ends_with_connection_) return state_ = State::Complete;
  return refuse(has_begun_ ? "the connection was closed in the middle of the answer"
                           : "the connection was closed without an answer");
}

bool ReplyParser::read_head() {
  const size_t end = rest_.find(kHeadEnd);
  const size_t size = end == std::string::npos ? rest_.size() : end + kHeadEnd.size();
  if (!std::string_view("HTTP/1.").starts_with(std::string_view(rest_).substr(0, 7))) {
    refuse("what answers does not speak HTTP/1");
    return false;
  }
  // Of interim replies too, which could come for ever.
  if (head_bytes_ + size > max_head_bytes_) {
    refuse("the header of the answer is too long");
    return false;
  }
  if (end == std::string::npos) return false;
  head_bytes_ += size;
  const std::string head = rest_.substr(0, size);
  rest_.erase(0, size);
  reply_ = {};
  ReplyGrammar grammar(reply_);
  grammar.header_limit(static_cast<uint32_t>(std::min<size_t>(max_head_bytes_, UINT32_MAX)));
  error_code error;
  grammar.put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error || !grammar.is_header_done()) {
    refuse("the answer is malformed: " + error.message());
    return false;
  }
  keeps_alive_ = grammar.keep_alive();
  if (reply_.status == 101 || reply_.status < 100) {
    refuse("the answer has a status that was not asked for");
    return false;
  }
  if (reply_.status < 200) return true;
  return choose_framing();
}

bool ReplyParser::choose_framing() {
  const NamedTexts& headers = reply_.headers;
  is_in_body_ = true;
  const bool is_chunked = find_header(headers, "Transfer-Encoding") != nullptr;
  const std::string length = reply_.header("Content-Length");
  if (times_named(headers, "Content-Length") > 1 || times_named(headers, "Transfer-Encoding") > 1 ||
      (is_chunked && !length.empty())) {
    refuse("the length of the answer is ambiguous");
    return false;
  }
  if (!has_body_ || reply_.status == 204 || reply_.status == 304) return true;
  if (is_chunked) {
    if (!equals_ignoring_case(reply_.header("Transfer-Encoding"), "chunked")) {
      refuse("the answer has a transfer coding that was not asked for");
      return false;
    }
    chunks_.emplace(max_body_bytes_, max_head_bytes_);
  } else if (!length.empty()) {
    const auto [end, error] =
        std::from_chars(length.data(), length.data() + length.size(), body_left_);
    if (error != std::errc{} || end != length.data() + length.size()) {
      refuse("the length of the answer is not a number");
      return false;
    }
    if (body_left_ > max_body_bytes_) {
      refuse("the answer is too long");
      return false;
    }
  } else {
    ends_with_connection_ = true;
    keeps_alive_ = false;
  }
  return true;
}

void ReplyParser::read_body() {
  if (chunks_) {
    rest_.erase(0, chunks_->feed(rest_, reply_.body));
    switch (chunks_->state()) {
      case ChunkDecoder::State::More: break;
      case ChunkDecoder::State::Done: state_ = State::Complete; break;
      case ChunkDecoder::State::Malformed: refuse("a chunk of the answer is malformed"); break;
      case ChunkDecoder::State::TooLong: refuse("the answer is too long"); break;
    }
    return;
  }
  if (ends_with_connection_) {
    if (reply_.body.size() + rest_.size() > max_body_bytes_) {
      refuse("the answer is too long");
      return;
    }
    reply_.body += std::exchange(rest_, {});
    return;
  }
  const auto taken = static_cast<size_t>(std::min<uint64_t>(body_left_, rest_.size()));
  reply_.body.append(rest_, 0, taken);
  rest_.erase(0, taken);
  body_left_ -= taken;
  if (body_left_ == 0) state_ = State::Complete;
}

}  // namespace gpufl::net
