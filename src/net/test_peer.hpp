// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

// For tests: what listens on loopback and does with a connection whatever the test says,
// well-formed or not. One connection after the other, numbered from 0.
namespace gpufl::net {

class Peer {
 public:
  using Act = std::function<void(Peer& peer, int socket, int number)>;

  explicit Peer(Act act) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof(at)), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    socklen_t size = sizeof(at);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this, act = std::move(act)] {
      for (int number = 0;; ++number) {
        const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) return;
        ++accepted_;
        act(*this, socket, number);
        ::close(socket);
      }
    });
  }
  ~Peer() {
    is_over_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  uint16_t port() const { return port_; }
  std::string url(std::string_view scheme = "http") const {
    return std::string(scheme) + "://127.0.0.1:" + std::to_string(port_);
  }
  int accepted() const { return accepted_; }
  bool is_over() const { return is_over_; }

  static void say(int socket, std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      text.remove_prefix(static_cast<size_t>(sent));
    }
  }
  // Up to and with `end`, or what came before the client closed.
  static std::string hear(int socket, std::string_view end = "\r\n\r\n") {
    std::string text;
    char byte;
    while (!text.ends_with(end) && ::recv(socket, &byte, 1, 0) == 1) text += byte;
    return text;
  }
  // Holds the connection and says nothing, until the test is over or the client goes.
  void be_silent(int socket) const {
    char byte;
    pollfd source{socket, POLLIN, 0};
    while (!is_over_) {
      if (::poll(&source, 1, 10) > 0 && ::recv(socket, &byte, 1, MSG_DONTWAIT) <= 0) return;
    }
  }

 private:
  const int listener_;
  uint16_t port_ = 0;
  std::atomic<int> accepted_{0};
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace gpufl::net
