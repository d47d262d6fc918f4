// SPDX-License-Identifier: Apache-2.0
#include "net/byte_stream.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/signals_blocked.hpp"

namespace gpufl::net {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kSlice{100};  // between two looks at is_cancelled

base::Status timed_out(const std::string& what) {
  return {base::Code::Unavailable, what + ": it took too long"};
}
base::Status cancelled() { return {base::Code::Cancelled, "it was stopped"}; }

bool must_stop(const Patience& patience) {
  return patience.is_cancelled && patience.is_cancelled();
}

// Which of `events` happened; 0: none until `until`.
base::Result<short> wait_for(int fd, short events, Clock::time_point until,
                             const Patience& patience) {
  while (true) {
    if (must_stop(patience)) return cancelled();
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    const auto slice = patience.is_cancelled ? std::min(left, kSlice) : left;
    pollfd source{fd, events, 0};
    const int ready =
        ::poll(&source, 1, static_cast<int>(std::clamp<int64_t>(slice.count(), 0, 60000)));
    if (ready > 0) return source.revents;
    if (ready < 0 && errno != EINTR)
      return base::Status::from_errno(errno, "cannot wait for a socket");
    if (Clock::now() >= until) return short{0};
  }
}

class Socket : public ByteStream {
 public:
  Socket(int fd, std::string peer) : fd_(fd), peer_(std::move(peer)) {}
  ~Socket() override { ::close(fd_); }

  base::Result<std::string_view> write(std::string_view bytes, const Patience& patience) override {
    while (!bytes.empty()) {
      const auto ready = wait_for(fd_, POLLIN | POLLOUT, next_end(patience), patience);
      if (!ready) return ready.status();
      if (*ready == 0) return timed_out("sending to " + peer_);
      if ((*ready & POLLIN) != 0) return bytes;
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        bytes.remove_prefix(static_cast<size_t>(sent));
      } else if (errno != EAGAIN && errno != EINTR) {
        return base::Status::from_errno(errno, "the connection to " + peer_ + " broke");
      }
    }
    return bytes;
  }

  base::Result<size_t> read(std::span<char> into, const Patience& patience) override {
    const auto until = next_end(patience);
    while (true) {
      const ssize_t got = ::recv(fd_, into.data(), into.size(), 0);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EAGAIN && errno != EINTR) {
        return base::Status::from_errno(errno, "the connection to " + peer_ + " broke");
      }
      const auto ready = wait_for(fd_, POLLIN, until, patience);
      if (!ready) return ready.status();
      if (*ready == 0) return timed_out("waiting for " + peer_);
    }
  }

  base::Result<bool> has_input(milliseconds at_most, const Patience& patience) override {
    const auto ready =
        wait_for(fd_, POLLIN, std::min(Clock::now() + at_most, patience.until), patience);
    if (!ready) return ready.status();
    return *ready != 0;
  }

 private:
  static Clock::time_point next_end(const Patience& patience) {
    return std::min(Clock::now() + patience.quiet, patience.until);
  }

  const int fd_;
  const std::string peer_;
};

// Looking a name up cannot be stopped, so it is done on a thread that may outlive who asked.
struct Lookup {
  std::mutex mutex;
  std::condition_variable done;
  bool is_done = false;
  int error = 0;
  addrinfo* found = nullptr;

  Lookup() = default;
  ~Lookup() {
    if (found != nullptr) ::freeaddrinfo(found);
  }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;
};

base::Result<std::shared_ptr<Lookup>> look_up(const std::string& host, uint16_t port,
                                              const Patience& patience) {
  auto lookup = std::make_shared<Lookup>();
  {
    // Signals are for the threads of whoever uses this.
    const base::SignalsBlocked blocked;
    std::thread([lookup, host, service = std::to_string(port)] {
      addrinfo wanted{};
      wanted.ai_socktype = SOCK_STREAM;
      wanted.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
      in6_addr address;
      in_addr address_v4;
      if (::inet_pton(AF_INET, host.c_str(), &address_v4) == 1 ||
          ::inet_pton(AF_INET6, host.c_str(), &address) == 1) {
        wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;  // loopback is no configured address
      }
      addrinfo* found = nullptr;
      const int error = ::getaddrinfo(host.c_str(), service.c_str(), &wanted, &found);
      const std::lock_guard lock(lookup->mutex);
      lookup->error = error;
      lookup->found = found;
      lookup->is_done = true;
      lookup->done.notify_all();
    }).detach();
  }
  std::unique_lock lock(lookup->mutex);
  while (!lookup->done.wait_for(lock, kSlice, [&] { return lookup->is_done; })) {
    if (must_stop(patience)) return cancelled();
    if (Clock::now() >= patience.until) return timed_out("looking up " + host);
  }
  if (lookup->error != 0) {
    return base::Status(base::Code::Unavailable,
                        "cannot look up " + host + ": " + ::gai_strerror(lookup->error));
  }
  return lookup;
}

base::Result<std::unique_ptr<ByteStream>> connect_one(const addrinfo& address,
                                                      const std::string& peer,
                                                      Clock::time_point until,
                                                      const Patience& patience) {
  const int fd = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return base::Status::from_errno(errno, "cannot make a socket");
  std::unique_ptr<ByteStream> stream = std::make_unique<Socket>(fd, peer);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (::connect(fd, address.ai_addr, address.ai_addrlen) == 0) return stream;
  int error = errno;
  if (error == EINPROGRESS) {
    const auto ready = wait_for(fd, POLLOUT, until, patience);
    if (!ready) return ready.status();
    if (*ready == 0) return timed_out("connecting to " + peer);
    socklen_t size = sizeof(error);
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  }
  if (error != 0) return base::Status::from_errno(error, "cannot connect to " + peer);
  return stream;
}

}  // namespace

base::Result<std::unique_ptr<ByteStream>> connect_to(const std::string& host, uint16_t port,
                                                     const Patience& patience) {
  const auto lookup = look_up(host, port, patience);
  if (!lookup) return lookup.status();
  const std::string peer = host + ", port " + std::to_string(port);
  std::vector<const addrinfo*> addresses;
  for (const addrinfo* at = (*lookup)->found; at != nullptr; at = at->ai_next) {
    addresses.push_back(at);
  }
  base::Status last(base::Code::Unavailable, host + " has no address");
  for (size_t i = 0; i < addresses.size(); ++i) {
    // One that does not answer leaves time for those behind it.
    const auto left = patience.until - Clock::now();
    const auto until = Clock::now() + left / static_cast<int64_t>(addresses.size() - i);
    auto stream = connect_one(*addresses[i], peer, until, patience);
    if (stream || stream.status().code() == base::Code::Cancelled) return stream;
    last = stream.status();
  }
  return last;
}

}  // namespace gpufl::net
