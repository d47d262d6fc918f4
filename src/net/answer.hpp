// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/compression.hpp"
#include "net/http_message.hpp"

// A handler's reply as bytes for the wire: status line, fields, and a body that is whole, made
// piece by piece, or events. Made on worker threads, because it compresses. Without a socket.
namespace gpufl::net {

// The rest of an answer, piece by piece. One thread at a time.
class AnswerStream {
 public:
  AnswerStream(std::unique_ptr<BodySource> source, std::unique_ptr<Compressor> compressor,
               bool is_chunked);

  enum class Piece : unsigned char { More, Last, Failed };
  // Appends a piece to `out`: some tens of kilobytes, or what came within a tenth of a second, or
  // until `request` is cancelled. Failed: the connection has to be cut.
  Piece next(const HttpRequest& request, std::string& out);

 private:
  Piece make_piece(const HttpRequest& request, std::string& out);

  std::unique_ptr<BodySource> source_;
  std::unique_ptr<Compressor> compressor_;
  const bool is_chunked_;
};

struct Answer {
  int status = 0;
  bool keeps_alive = false;
  bool is_chunked = false;
  std::string head;  // with the empty line behind it
  std::string body;
  std::shared_ptr<AnswerStream> stream;  // instead of the body
  std::shared_ptr<EventChannel> events;  // instead of the body
};

// Never throws: what the handler throws is answered with 500.
Answer make_answer(const HttpHandler& handler, const HttpRequest& request, bool keeps_alive);
// Likewise. Of an empty check: a stranger may go ahead.
HeadVerdict make_verdict(const HeadCheck& check, const HttpRequest& head);
Answer make_answer(HttpReply reply, const HttpRequest& request, bool keeps_alive);

// 503 with Retry-After.
HttpReply busy_reply(std::string_view detail);

// `text`, which is not empty, as a chunk.
void append_chunk(std::string_view text, std::string& out);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// "Sun, 06 Nov 1994 08:49:37 GMT", of seconds since 1970.
std::string http_date(int64_t unix_s);

}  // namespace gpufl::net
