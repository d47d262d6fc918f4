// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "net/chunk_decoder.hpp"
#include "net/http_limits.hpp"
#include "net/http_message.hpp"

// Bytes of a client as one request, within limits. Stricter than the grammar where two readers
// could disagree about where a request ends or which path it names: such requests are refused.
// Without a socket; one thread. Memory: what the limits allow.
namespace gpufl::net {

class RequestParser {
 public:
  // How long a body may be, asked once the head is there; empty: what the limits say.
  using BodyBound = std::function<size_t(const HttpRequest& head)>;
  explicit RequestParser(const HttpLimits& limits, BodyBound bound = {});
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  enum class State : unsigned char { Head, Body, Complete, Refused };
  // Reads on. `bytes` begins with what it has not used so far; returns how many of them it used
  // now. Those behind a complete request are never used.
  size_t feed(std::string_view bytes);
  State state() const { return state_; }
  bool has_head() const { return state_ == State::Body || state_ == State::Complete; }

  // Refused: the status to answer with, and why, for people.
  int refusal() const { return refusal_; }
  const std::string& reason() const { return reason_; }

  // Whole when Complete. Method, path and headers also in Body, and as far as known when Refused.
  HttpRequest& request() { return request_; }
  // Whether the client wants to send another request on this connection.
  bool keeps_alive() const { return keeps_alive_; }
  // Body: the client waits for "100 Continue" before it sends one.
  bool wants_continue() const { return wants_continue_; }

 private:
  bool refuse(int status, std::string_view reason);
  bool find_head(std::string_view bytes, size_t& size);
  bool check_request_line(std::string_view line);
  void read_head(std::string_view head);
  bool check_framing();
  bool check_fields(std::string_view target);
  bool begin_body();
  size_t read_body(std::string_view bytes);

  const HttpLimits& limits_;
  const BodyBound bound_;
  HttpRequest request_;
  State state_ = State::Head;
  size_t skipped_ = 0;  // of empty lines before the request
  size_t scanned_ = 0;  // of the head, without its end in them
  int refusal_ = 0;
  std::string reason_;
  std::optional<ChunkDecoder> chunks_;
  size_t body_left_ = 0;  // where there are no chunks
  bool keeps_alive_ = false;
  bool wants_continue_ = false;
};

}  // namespace gpufl::net
