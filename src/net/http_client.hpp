// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "net/proxy.hpp"
#include "net/reply_parser.hpp"
#include "net/tls.hpp"
#include "net/url.hpp"

// A client of one HTTP/1.1 server, in plain or by TLS, through a proxy where the environment says
// so. Every wait and every size has a bound; redirects are not followed, so that a key goes to
// whom it was given for. One thread at a time; keeps one connection between requests.
namespace gpufl::net {

struct HttpClientOptions {
  TlsChoice tls = {};
  Variables variables = environment_variable;  // that name proxies
  std::chrono::milliseconds connect_time{10000};
  std::chrono::milliseconds quiet_time{30000};   // without a byte in either direction
  std::chrono::milliseconds total_time{300000};  // of one request with its reply
  size_t head_bytes = size_t{64} * 1024;         // of a reply
  size_t reply_bytes = size_t{16} << 20;         // its body
  // Asked ten times a second while something is waited for; true: the request fails as Cancelled.
  std::function<bool()> is_cancelled = {};
};

// What is sent as a body, piece by piece; `read` is called again from 0 where a connection that was
// kept turned out to be closed.
struct RequestBody {
  uint64_t size = 0;
  // Fills all of `into` from `offset` on.
  std::function<base::Status(uint64_t offset, std::span<char> into)> read;

  // Of text that outlives the request.
  static RequestBody of(std::string_view text);
};

// Must be one that may be sent twice (GET, or a POST whose second sending changes nothing).
struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query, percent-encoded; the URL's path is put before it
  NamedTexts headers = {};   // besides Host, Content-Length and the like
  std::optional<RequestBody> body = {};
};

class HttpClient {
 public:
  // Connects to nothing yet. Fails where a file of `tls` or the proxy cannot be used.
  static base::Result<std::unique_ptr<HttpClient>> make(const Url& url,
                                                        HttpClientOptions options = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Whatever the server answers, errors included. Fails where there is no answer: Unavailable where
  // it may be there later, PermissionDenied for a certificate, Corrupt where what answers makes no
  // sense, Cancelled.
  base::Result<ClientReply> ask(const ClientRequest& request);

 private:
  HttpClient(Url url, HttpClientOptions options, std::optional<Url> proxy,
             std::shared_ptr<TlsContext> tls);
  base::Result<std::unique_ptr<ByteStream>> connect(const Patience& patience) const;
  base::Status tunnel(ByteStream& stream, const Patience& patience) const;
  std::string head_of(const ClientRequest& request) const;
  // Returns early where the server answers before it has all of it: `parser` has what it said.
  base::Status send(ByteStream& stream, const ClientRequest& request, ReplyParser& parser,
                    const Patience& patience) const;
  // Keeps the connection where another request may follow.
  base::Result<ClientReply> exchange(std::unique_ptr<ByteStream> stream,
                                     const ClientRequest& request, const Patience& patience,
                                     bool& has_answered);

  const Url url_;
  const HttpClientOptions options_;
  const std::optional<Url> proxy_;
  const std::shared_ptr<TlsContext> tls_;
  std::unique_ptr<ByteStream> kept_;
};

// What a Retry-After field asks for, seconds or a date, at most an hour; nothing: there is none
// that makes sense.
std::optional<std::chrono::seconds> retry_after(const ClientReply& reply, int64_t now_unix_s);

}  // namespace gpufl::net
