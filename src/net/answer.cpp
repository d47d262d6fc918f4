// SPDX-License-Identifier: Apache-2.0
#include "net/answer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <exception>
#include <utility>

#include "base/clock.hpp"

namespace gpufl::net {
namespace {

constexpr size_t kSmallestCompressed = 1024;
constexpr size_t kPieceBytes = size_t{64} * 1024;
constexpr int64_t kPieceTime_ns = 100'000'000;

bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

bool is_field_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

// A line end in a value would let whoever chose it write fields, or another answer.
bool can_be_sent(const HttpReply& reply) {
  return reply.status >= 200 && reply.status <= 599 && is_field_value(reply.content_type) &&
         std::all_of(reply.headers.begin(), reply.headers.end(), [](const auto& field) {
           return is_token(field.first) && is_field_value(field.second);
         });
}

// How long the body is, and whether the connection stays, is not for handlers to say.
bool is_ours(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOurs = {"Content-Length", "Transfer-Encoding",
                                                     "Connection", "Date", "Keep-Alive"};
  return std::any_of(kOurs.begin(), kOurs.end(),
                     [&](std::string_view ours) { return equals_ignoring_case(name, ours); });
}

void add_field(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

void discard(HttpReply& reply) {
  if (reply.events) reply.events->close();
}

Encoding encoding_for(const HttpRequest& request, const HttpReply& reply) {
  const bool is_small = !reply.source && reply.body.size() <= kSmallestCompressed;
  return is_small ? Encoding::Identity : choose_encoding(request.header("Accept-Encoding"));
}

std::string head_of(const HttpReply& reply, Encoding encoding, bool varies) {
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " ";
  head.append(reason_of(reply.status)).append("\r\n");
  add_field(head, "Date", http_date(std::time(nullptr)));
  if (!reply.content_type.empty()) add_field(head, "Content-Type", reply.content_type);
  for (const auto& [name, value] : reply.headers) {
    if (is_ours(name)) continue;
    // Bytes differ by encoding, which a strong tag denies.
    const bool is_weakened = encoding != Encoding::Identity && equals_ignoring_case(name, "ETag") &&
                             !value.starts_with("W/");
    add_field(head, name, is_weakened ? "W/" + value : value);
  }
  if (!find_header(reply.headers, "Cache-Control")) add_field(head, "Cache-Control", "no-store");
  if (!find_header(reply.headers, "X-Content-Type-Options")) {
    add_field(head, "X-Content-Type-Options", "nosniff");
  }
  if (varies) add_field(head, "Vary", "Accept-Encoding");
  if (encoding != Encoding::Identity) add_field(head, "Content-Encoding", name_of(encoding));
  return head;
}

}  // namespace

AnswerStream::AnswerStream(std::unique_ptr<BodySource> source,
                           std::unique_ptr<Compressor> compressor, bool is_chunked)
    : source_(std::move(source)), compressor_(std::move(compressor)), is_chunked_(is_chunked) {}

AnswerStream::Piece AnswerStream::next(const HttpRequest& request, std::string& out) {
  try {
    return make_piece(request, out);
  } catch (...) {
    return Piece::Failed;
  }
}

AnswerStream::Piece AnswerStream::make_piece(const HttpRequest& request, std::string& out) {
  const int64_t began_ns = base::monotonic_ns();
  std::string text;
  bool has_more = true;
  while (has_more && text.size() < kPieceBytes) {
    if (request.is_cancelled()) return Piece::Failed;
    has_more = source_->next(text);
    if (!text.empty() && base::monotonic_ns() - began_ns > kPieceTime_ns) break;
  }
  if (compressor_) {
    std::string compressed;
    if (!compressor_->add(text, !has_more, compressed)) return Piece::Failed;
    text.swap(compressed);
  }
  if (!is_chunked_) {
    out += text;
  } else {
    if (!text.empty()) append_chunk(text, out);
    if (!has_more) out += kLastChunk;
  }
  return has_more ? Piece::More : Piece::Last;
}

Answer make_answer(const HttpHandler& handler, const HttpRequest& request, bool keeps_alive) {
  try {
    return make_answer(handler(request), request, keeps_alive);
  } catch (...) {
    // What it was is the handler's to log; a client must not learn of files and addresses.
    return make_answer(problem(500), request, keeps_alive);
  }
}

HeadVerdict make_verdict(const HeadCheck& check, const HttpRequest& head) {
  if (!check) return {};
  try {
    return check(head);
  } catch (...) {
    return {problem(500)};
  }
}

Answer make_answer(HttpReply reply, const HttpRequest& request, bool keeps_alive) {
  if (!can_be_sent(reply)) {
    discard(reply);
    reply = problem(500);
  }
  if (reply.events) {
    reply.content_type = "text/event-stream";
    reply.headers.emplace_back("X-Accel-Buffering", "no");  // proxies that collect would delay
  }
  const bool is_head = request.method == "HEAD";
  const bool has_body = reply.status != 204 && reply.status != 304;
  const bool is_streamed = has_body && (reply.source || reply.events);
  // 304 says it too, for caches. Parts are of the bytes as they are.
  const bool varies = is_compressible(reply.content_type) && reply.status != 206 &&
                      !find_header(reply.headers, "Content-Encoding");
  Encoding encoding = varies && has_body ? encoding_for(request, reply) : Encoding::Identity;
  std::unique_ptr<Compressor> compressor = make_compressor(encoding);
  if (!compressor) encoding = Encoding::Identity;
  if (compressor && !is_streamed) {
    std::string compressed;
    if (compressor->add(reply.body, true, compressed)) {
      reply.body.swap(compressed);
    } else {
      encoding = Encoding::Identity;
    }
  }

  Answer answer;
  answer.status = reply.status;
  answer.is_chunked = is_streamed && !request.is_http_1_0;
  answer.keeps_alive = keeps_alive && (!is_streamed || answer.is_chunked);
  answer.head = head_of(reply, encoding, varies);
  if (answer.is_chunked) {
    add_field(answer.head, "Transfer-Encoding", "chunked");
  } else if (has_body && !is_streamed) {
    add_field(answer.head, "Content-Length", std::to_string(reply.body.size()));
  }
  if (!answer.keeps_alive) add_field(answer.head, "Connection", "close");
  answer.head += "\r\n";

  if (is_head || !has_body) {
    discard(reply);
  } else if (reply.events) {
    answer.events = std::move(reply.events);
  } else if (reply.source) {
    answer.stream = std::make_shared<AnswerStream>(std::move(reply.source), std::move(compressor),
                                                   answer.is_chunked);
  } else {
    answer.body = std::move(reply.body);
  }
  return answer;
}

HttpReply busy_reply(std::string_view detail) {
  HttpReply reply = problem(503, reason_of(503), detail);
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

void append_chunk(std::string_view text, std::string& out) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), text.size(), 16).ptr;
  out.append(digits.data(), static_cast<size_t>(end - digits.data())).append("\r\n");
  out.append(text).append("\r\n");
}

std::string http_date(int64_t unix_s) {
  constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  const auto two = [](int value) { return (value < 10 ? "0" : "") + std::to_string(value); };
  std::string text(kDays.substr(static_cast<size_t>(parts.tm_wday) * 3, 3));
  text += ", " + two(parts.tm_mday) + " ";
  text += kMonths.substr(static_cast<size_t>(parts.tm_mon) * 3, 3);
  text += " " + std::to_string(parts.tm_year + 1900) + " " + two(parts.tm_hour) + ":" +
          two(parts.tm_min) + ":" + two(parts.tm_sec) + " GMT";
  return text;
}

}  // namespace gpufl::net
