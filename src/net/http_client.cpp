// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.hpp"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

namespace gpufl::net {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kPieceBytes = size_t{64} * 1024;
// Beyond, the server may refuse before it gets the body; it has that long to say so.
constexpr uint64_t kAskFirstBytes = uint64_t{256} * 1024;
constexpr milliseconds kContinueTime{1000};
constexpr int64_t kLongestRetry_s = 3600;

bool is_gone(const base::Status& status) {
  return status.code() != base::Code::Cancelled && status.code() != base::Code::InvalidArgument;
}

// Until the reply is whole.
base::Status receive(ByteStream& stream, ReplyParser& parser, const Patience& patience) {
  std::vector<char> piece(kPieceBytes);
  while (parser.state() == ReplyParser::State::More) {
    const auto got = stream.read(piece, patience);
    if (!got) return got.status();
    if (*got == 0) {
      parser.end();
    } else {
      parser.feed({piece.data(), *got});
    }
  }
  if (parser.state() == ReplyParser::State::Complete) return {};
  return {parser.has_begun() ? base::Code::Corrupt : base::Code::Unavailable, parser.reason()};
}

}  // namespace

RequestBody RequestBody::of(std::string_view text) {
  return {text.size(), [text](uint64_t offset, std::span<char> into) {
            std::memcpy(into.data(), text.data() + offset, into.size());
            return base::Status();
          }};
}

HttpClient::HttpClient(Url url, HttpClientOptions options, std::optional<Url> proxy,
                       std::shared_ptr<TlsContext> tls)
    : url_(std::move(url)),
      options_(std::move(options)),
      proxy_(std::move(proxy)),
      tls_(std::move(tls)) {}
HttpClient::~HttpClient() = default;

base::Result<std::unique_ptr<HttpClient>> HttpClient::make(const Url& url,
                                                           HttpClientOptions options) {
  auto proxy = proxy_for(url, options.variables);
  if (!proxy) return proxy.status();
  std::shared_ptr<TlsContext> tls;
  if (url.is_tls) {
    auto made = TlsContext::make(options.tls);
    if (!made) return made.status();
    tls = *made;
  }
  return std::unique_ptr<HttpClient>(
      new HttpClient(url, std::move(options), std::move(*proxy), std::move(tls)));
}

base::Result<std::unique_ptr<ByteStream>> HttpClient::connect(const Patience& patience) const {
  const Url& first = proxy_ ? *proxy_ : url_;
  auto stream = connect_to(first.host, first.port, patience);
  if (!stream || !url_.is_tls) return stream;
  if (proxy_) {
    if (base::Status status = tunnel(**stream, patience); !status) return status;
  }
  return tls_->start(std::move(*stream), url_.host, patience);
}

// Has the proxy connect to the server.
base::Status HttpClient::tunnel(ByteStream& stream, const Patience& patience) const {
  const std::string host =
      url_.host.find(':') == std::string::npos ? url_.host : "[" + url_.host + "]";
  const std::string authority = host + ":" + std::to_string(url_.port);
  std::string head = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
  if (!proxy_->user_info.empty()) {
    head += "Proxy-Authorization: Basic " + base64(proxy_->user_info) + "\r\n";
  }
  const auto unsent = stream.write(head + "\r\n", patience);
  if (!unsent) return unsent.status();
  // A success has no body: what follows is the server's.
  ReplyParser parser(options_.head_bytes, 0, false);
  // Byte by byte, so that none of the server's is taken.
  char byte;
  while (parser.state() == ReplyParser::State::More) {
    const auto got = stream.read({&byte, 1}, patience);
    if (!got) return got.status();
    *got == 0 ? parser.end() : parser.feed({&byte, 1});
  }
  const std::string proxy = "the proxy " + proxy_->authority();
  if (parser.state() != ReplyParser::State::Complete) {
    return {base::Code::Unavailable, proxy + " did not connect: " + parser.reason()};
  }
  const int status = parser.take().status;
  if (status >= 200 && status < 300) return {};
  return {base::Code::Unavailable, proxy + " did not connect to " + authority + ": it answered " +
                                       std::to_string(status) + " " +
                                       std::string(reason_of(status))};
}

std::string HttpClient::head_of(const ClientRequest& request) const {
  // A proxy of plain HTTP is told the whole address.
  const bool is_whole = proxy_ && !url_.is_tls;
  std::string head = request.method + " " + (is_whole ? url_.origin() : "") + url_.path +
                     request.target + " HTTP/1.1\r\nHost: " + url_.authority() + "\r\n";
  if (is_whole && !proxy_->user_info.empty()) {
    head += "Proxy-Authorization: Basic " + base64(proxy_->user_info) + "\r\n";
  }
  for (const auto& [name, value] : request.headers) head += name + ": " + value + "\r\n";
  if (request.body) {
    head += "Content-Length: " + std::to_string(request.body->size) + "\r\n";
    if (request.body->size >= kAskFirstBytes) head += "Expect: 100-continue\r\n";
  }
  return head + "\r\n";
}

base::Result<ClientReply> HttpClient::ask(const ClientRequest& request) {
  for (const auto& [name, value] : request.headers) {
    if ((name + value).find_first_of("\r\n") != std::string::npos) {
      return base::Status(base::Code::InvalidArgument, "a line end in the header field " + name);
    }
  }
  const Patience patience{Clock::now() + options_.total_time, options_.quiet_time,
                          options_.is_cancelled};
  bool has_answered = false;
  if (kept_) {
    auto reply = exchange(std::move(kept_), request, patience, has_answered);
    // A server may close a connection that rests at any moment.
    if (reply || has_answered || !is_gone(reply.status())) return reply;
  }
  Patience to_connect = patience;
  to_connect.until = std::min(patience.until, Clock::now() + options_.connect_time);
  auto stream = connect(to_connect);
  if (!stream) return stream.status();
  return exchange(std::move(*stream), request, patience, has_answered);
}

base::Status HttpClient::send(ByteStream& stream, const ClientRequest& request, ReplyParser& parser,
                              const Patience& patience) const {
  std::vector<char> piece(kPieceBytes);
  // What the server says meanwhile. True: that is its answer, or the beginning of it.
  const auto hear = [&]() -> base::Result<bool> {
    const auto got = stream.read(piece, patience);
    if (!got) return got.status();
    *got == 0 ? parser.end() : parser.feed({piece.data(), *got});
    return parser.state() != ReplyParser::State::More || !parser.is_before_head();
  };
  const auto write = [&](std::string_view bytes) -> base::Result<bool> {
    while (true) {
      const auto unsent = stream.write(bytes, patience);
      if (!unsent) return unsent.status();
      if (unsent->empty()) return true;
      bytes = *unsent;
      const auto is_answer = hear();
      if (!is_answer) return is_answer.status();
      if (*is_answer) return false;
    }
  };
  const auto sent_head = write(head_of(request));
  if (!sent_head) return sent_head.status();
  if (!*sent_head || !request.body) return {};
  if (request.body->size >= kAskFirstBytes) {
    const auto has = stream.has_input(kContinueTime, patience);
    if (!has) return has.status();
    const auto is_answer = *has ? hear() : base::Result<bool>(false);
    if (!is_answer) return is_answer.status();
    if (*is_answer) return {};
  }
  std::vector<char> body;
  for (uint64_t offset = 0; offset < request.body->size; offset += body.size()) {
    body.resize(static_cast<size_t>(std::min<uint64_t>(kPieceBytes, request.body->size - offset)));
    if (base::Status status = request.body->read(offset, body); !status) {
      const bool is_stopped = status.code() == base::Code::Cancelled;
      return is_stopped ? status : base::Status(base::Code::InvalidArgument, status.message());
    }
    const auto goes_on = write({body.data(), body.size()});
    if (!goes_on) return goes_on.status();
    if (!*goes_on) return {};
  }
  return {};
}

base::Result<ClientReply> HttpClient::exchange(std::unique_ptr<ByteStream> stream,
                                               const ClientRequest& request,
                                               const Patience& patience, bool& has_answered) {
  ReplyParser parser(options_.head_bytes, options_.reply_bytes, request.method != "HEAD");
  const base::Status sent = send(*stream, request, parser, patience);
  if (!sent && !is_gone(sent)) return sent;
  // Also where sending failed: a server that refuses says so before it closes.
  const base::Status received = receive(*stream, parser, patience);
  has_answered = parser.has_begun();
  if (!received) return sent || has_answered ? received : sent;
  const bool goes_on = sent && parser.keeps_alive();
  ClientReply reply = parser.take();
  // Where it answered early, it may take the rest of the body for a request.
  if (goes_on && !(request.body && reply.status >= 400)) kept_ = std::move(stream);
  return reply;
}

std::optional<std::chrono::seconds> retry_after(const ClientReply& reply, int64_t now_unix_s) {
  const std::string value = reply.header("Retry-After");
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error != std::errc{} || end != value.data() + value.size()) {
    tm parts{};
    const char* const rest = ::strptime(value.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    if (rest == nullptr || *rest != '\0') return std::nullopt;
    seconds = static_cast<int64_t>(::timegm(&parts)) - now_unix_s;
  }
  return std::chrono::seconds(std::clamp<int64_t>(seconds, 0, kLongestRetry_s));
}

}  // namespace gpufl::net
