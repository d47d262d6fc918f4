// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/event_channel.hpp"

// A request as a handler sees it, and what a handler answers: plain values without a socket. Made
// and read by one thread at a time; `is_cancelled` and `keeps_own_time` may be called on any, at
// the cost of an atomic.
namespace gpufl::net {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

// Where a body goes as it arrives, instead of into memory. It keeps to itself what goes wrong, for
// the handler to find.
class BodySink {
 public:
  BodySink() = default;
  virtual ~BodySink() = default;
  BodySink(const BodySink&) = delete;
  BodySink& operator=(const BodySink&) = delete;
  // The next part, of some hundred kilobytes at most. On worker threads, one at a time; nothing
  // more is read meanwhile.
  virtual void take(std::string_view part) noexcept = 0;
};

struct HttpRequest {
  std::string method = "GET";
  // Percent-decoded, without the query; begins with a slash ("*" of OPTIONS apart). Never contains
  // a control character, an empty segment before the last, or "." and "..": those are answered 400.
  std::string path = "/";
  NamedTexts query = {};  // decoded, in order
  // As received, in order. Host is that of the request target where it has one.
  NamedTexts headers = {};
  std::string body = {};
  std::shared_ptr<BodySink> sink = {};  // has taken all of the body, if the head's check gave one
  std::string peer = {};                // numeric address
  bool is_http_1_0 = false;
  // The client has gone, or the server has waited long enough, for the answer or with its own end:
  // for long work.
  std::function<bool()> is_cancelled = [] { return false; };
  // For a handler with a limit of its own: HttpLimits::handler_time is not for this request.
  std::function<void()> keeps_own_time = [] {};

  // Of any case; values of a name that occurs more than once are joined as lists are. "": absent.
  std::string header(std::string_view name) const;
  bool has_header(std::string_view name) const;
  // The first one of that name.
  std::optional<std::string> query_value(std::string_view name) const;
};

// A body that is made piece by piece on worker threads, one at a time. Is destroyed early when the
// client has gone.
class BodySource {
 public:
  BodySource() = default;
  virtual ~BodySource() = default;
  BodySource(const BodySource&) = delete;
  BodySource& operator=(const BodySource&) = delete;
  // Appends to `out`. False: that was the last. What it throws cuts the connection, so that the
  // client knows that something is missing.
  virtual bool next(std::string& out) = 0;
};

struct HttpReply {
  int status = 200;
  NamedTexts headers = {};
  std::string content_type = {};
  std::string body = {};
  std::unique_ptr<BodySource> source = {};    // instead of `body`: chunked
  std::shared_ptr<EventChannel> events = {};  // instead of `body`: text/event-stream
};

using HttpHandler = std::function<HttpReply(const HttpRequest&)>;

// What is said of a request once its head is there, and before any of its body is asked for.
struct HeadVerdict {
  // Instead of the handler's. The body is not read; with an error the connection is closed.
  std::optional<HttpReply> reply = {};
  // The client has shown who it is: where room is needed, strangers' connections go first.
  bool is_trusted = false;
  // How long a body may be that goes into memory; beyond: 413. 0: as HttpLimits says.
  size_t body_bytes = 0;
  // Takes the body, which may be that long, and take that long to arrive.
  std::shared_ptr<BodySink> sink = {};
  size_t sink_bytes = 0;
  std::chrono::milliseconds sink_time{0};
};
// Called on the network's thread for every request that can be read, so it must be quick. What it
// throws is answered with 500.
using HeadCheck = std::function<HeadVerdict(const HttpRequest& head)>;

// A reply with a body, for handlers in one expression.
HttpReply reply_with(std::string content_type, std::string body, int status = 200);
// application/problem+json (RFC 9457) with `title`, `status` and, unless empty, `detail`.
HttpReply problem(int status, std::string_view title, std::string_view detail = {});
// The same with the status' own words as the title.
HttpReply problem(int status);
// "Not Found"; "Unknown" for a number without a name.
std::string_view reason_of(int status);

// The first one of that name, of any case; null: absent.
const std::string* find_header(const NamedTexts& headers, std::string_view name);
// Whether two ASCII texts are the same but for their case.
bool equals_ignoring_case(std::string_view a, std::string_view b);

}  // namespace gpufl::net
