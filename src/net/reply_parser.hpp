// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/chunk_decoder.hpp"
#include "net/http_message.hpp"

// Bytes of a server as one reply, within limits. What is ambiguous is refused, since a server is
// trusted no more than a client is. Without a socket; one thread.
namespace gpufl::net {

struct ClientReply {
  int status = 0;
  NamedTexts headers = {};
  std::string body = {};

  // The first one of that name; "": absent.
  std::string header(std::string_view name) const;
};

class ReplyParser {
 public:
  // `has_body`: false for the answer to HEAD.
  ReplyParser(size_t max_head_bytes, size_t max_body_bytes, bool has_body);

  // More: also after an interim reply (1xx).
  enum class State : unsigned char { More, Complete, Refused };
  State feed(std::string_view bytes);
  // The server has closed. Complete where that is how the body ends.
  State end();
  State state() const { return state_; }

  bool has_begun() const { return has_begun_; }  // a byte was there
  // Nothing is there but interim replies, as "100 Continue" is.
  bool is_before_head() const { return !is_in_body_ && rest_.empty(); }
  // Whether another request may follow on the connection. Of a complete reply.
  bool keeps_alive() const { return keeps_alive_ && rest_.empty(); }
  const std::string& reason() const { return reason_; }  // Refused: why, for people
  ClientReply take() { return std::move(reply_); }

 private:
  State refuse(std::string_view reason);
  // False: it is not all there, or refused.
  bool read_head();
  bool choose_framing();
  void read_body();

  const size_t max_head_bytes_, max_body_bytes_;
  const bool has_body_;
  State state_ = State::More;
  ClientReply reply_;
  std::string rest_;  // bytes that were not used yet
  size_t head_bytes_ = 0;
  bool has_begun_ = false, keeps_alive_ = false;
  bool is_in_body_ = false;
  bool ends_with_connection_ = false;
  std::optional<ChunkDecoder> chunks_;
  uint64_t body_left_ = 0;
  std::string reason_;
};

}  // namespace gpufl::net
