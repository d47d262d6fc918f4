// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "net/http_server.hpp"

// For tests: a client that sends any bytes, well-formed or not, and understands answers. Blocking;
// what does not come within a minute is taken as not coming.
namespace gpufl::net {

struct Response {
  int status = 0;
  std::string head;  // with its line ends
  std::string body;  // of chunks too
  bool is_whole = false;

  bool has(std::string_view line) const {
    return head.find(std::string(line) + "\r\n") != std::string::npos;
  }
};

class Client {
 public:
  // `receive_bytes`: of the socket's buffer; small for clients that are slow readers.
  explicit Client(const HttpServer& server, int receive_bytes = 0)
      : Client(server.endpoint().port, receive_bytes) {}
  explicit Client(uint16_t port, int receive_bytes = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{60, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (receive_bytes > 0) {
      setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    }
    int failed = 0;
    do {  // one that was interrupted goes on by itself
      failed = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0 ? 0 : errno;
    } while (failed == EINTR || failed == EALREADY);
    EXPECT_TRUE(failed == 0 || failed == EISCONN) << failed;
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  void end_input() { ::shutdown(socket_, SHUT_WR); }
  // So that the server's next write fails.
  void reset() {
    const linger now{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    ::close(std::exchange(socket_, -1));
  }

  // Until the server closes.
  std::string read_all() {
    while (receive()) {
    }
    return std::exchange(in_, {});
  }
  // Up to and with `end`; less where the server closes before.
  std::string read_until(std::string_view end) {
    size_t at = 0;
    while ((at = in_.find(end)) == std::string::npos) {
      if (!receive()) return std::exchange(in_, {});
    }
    return take(at + end.size());
  }
  // One answer, of which there may be more behind it.
  Response read_response(bool is_head = false) {
    Response response;
    response.head = read_until("\r\n\r\n");
    if (response.head.size() < 12 || !response.head.ends_with("\r\n\r\n")) return response;
    response.status = std::stoi(response.head.substr(9, 3));
    if (response.has("Transfer-Encoding: chunked") && !is_head) {
      response.is_whole = read_chunks(response.body);
      return response;
    }
    const size_t field = response.head.find("Content-Length: ");
    const size_t size =
        field == std::string::npos || is_head ? 0 : std::stoul(response.head.substr(field + 16));
    while (in_.size() < size && receive()) {
    }
    response.is_whole = in_.size() >= size;
    response.body = take(std::min(size, in_.size()));
    return response;
  }
  Response ask(std::string_view request) {
    EXPECT_TRUE(send(request));
    return read_response(request.starts_with("HEAD "));
  }

 private:
  bool receive() {
    char bytes[4096];
    ssize_t size = 0;
    // Servers in this process have children, whose end interrupts whatever waits.
    do {
      size = ::recv(socket_, bytes, sizeof(bytes), 0);
    } while (size < 0 && errno == EINTR);
    if (size > 0) in_.append(bytes, static_cast<size_t>(size));
    return size > 0;
  }
  std::string take(size_t size) {
    std::string taken = in_.substr(0, size);
    in_.erase(0, size);
    if (in_.empty()) in_.shrink_to_fit();
    return taken;
  }
  bool read_chunks(std::string& body) {
    while (true) {
      const std::string line = read_until("\r\n");
      if (!line.ends_with("\r\n")) return false;
      const size_t size = std::stoul(line, nullptr, 16);
      while (in_.size() < size + 2 && receive()) {
      }
      if (in_.size() < size + 2) return false;
      body += take(size + 2).substr(0, size);
      if (size == 0) return true;
    }
  }

  int socket_;
  std::string in_;
};

// A GET of a path; `fields` with their line ends.
inline std::string get(std::string_view path, std::string_view fields = {}) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n";
}

// For a machine that is busy with something else: no time ends unless a test asks for it.
inline HttpLimits patient() {
  HttpLimits limits;
  limits.read_time = limits.body_time = limits.write_time = limits.idle_time = limits.stop_time =
      limits.cancel_time = limits.heartbeat = limits.handler_time = std::chrono::minutes(2);
  return limits;
}

inline std::unique_ptr<HttpServer> serve(HttpHandler handler, const HttpLimits& limits = patient(),
                                         AccessLog log = {}, HeadCheck check = {}) {
  auto server = HttpServer::start({"127.0.0.1", 0}, std::move(handler), limits, std::move(log),
                                  std::move(check));
  EXPECT_TRUE(server) << server.status().text();
  return std::move(*server);
}

inline HttpReply text_reply(std::string body) {
  return reply_with("text/plain; charset=utf-8", std::move(body));
}

inline Response ask(const HttpServer& server, std::string_view request) {
  return Client(server).ask(request);
}

// Holds handlers up until it is opened; a minute when a test fails to.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait_for(lock, std::chrono::minutes(1), [this] { return is_open_; });
  }
  int waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int waiting_ = 0;
};

}  // namespace gpufl::net
