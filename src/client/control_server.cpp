// SPDX-License-Identifier: Apache-2.0
#include "client/control_server.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "client/control_socket.hpp"

namespace gpufl::client {
namespace {

// Somebody who connects and says nothing keeps others waiting no longer than this.
constexpr int kPatienceMs = 1000;
constexpr int64_t kMillisecondNs = 1'000'000;
constexpr int kMaxWaiting = 16;
// A program may have closed what would wake us.
constexpr int64_t kLongestWaitMs = 500;

base::Json refusal(std::string_view word, std::string_view message) {
  base::Json reply = base::Json::object();
  reply.set("ok", false).set("error", word).set("message", message);
  return reply;
}

base::Json to_reply(const base::Status& status) {
  if (!status) return refusal(base::to_string(status.code()), status.message());
  base::Json reply = base::Json::object();
  reply.set("ok", true);
  return reply;
}

bool is_own_user(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

base::Status bind_to(int fd, const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof address.sun_path) {
    return {base::Code::InvalidArgument, path.string() + ": the path is too long"};
  }
  std::memcpy(address.sun_path, path.c_str(), path.native().size() + 1);
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(fd, name, sizeof address) == 0) return base::Status::ok();
  // Left by a process that had our number before us; or it is there, in another pid namespace.
  if (errno == EADDRINUSE && ::connect(fd, name, sizeof address) != 0 && errno == ECONNREFUSED &&
      ::unlink(path.c_str()) == 0 && ::bind(fd, name, sizeof address) == 0) {
    return base::Status::ok();
  }
  return base::Status::from_errno(errno, path.string());
}

// One connection's lines. Reading ends when `wake` becomes readable.
class Connection {
 public:
  Connection(int fd, int wake) : fd_(fd), wake_(wake), identity_(fd) {}
  ~Connection() { identity_.close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  enum class Got : unsigned char { Line, TooLong, Nothing };

  Got read_line(std::string& line) {
    while (true) {
      if (const size_t end = text_.find('\n'); end != std::string::npos) {
        line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return Got::Line;
      }
      if (text_.size() > kMaxControlLine) return Got::TooLong;
      pollfd waiting[] = {{fd_, POLLIN, 0}, {wake_, POLLIN, 0}};
      if (::poll(waiting, 2, kPatienceMs) <= 0 || waiting[1].revents != 0) return Got::Nothing;
      char piece[1024];
      const ssize_t got = ::recv(fd_, piece, sizeof piece, MSG_DONTWAIT);
      if (got <= 0) return Got::Nothing;
      text_.append(piece, static_cast<size_t>(got));
    }
  }

  bool write_line(const base::Json& reply) {
    std::string text = reply.dump();
    if (text.size() >= kMaxControlReply) {
      text = refusal("too_long", "the answer is too long").dump();
    }
    text += '\n';
    for (size_t sent = 0; sent < text.size();) {
      pollfd waiting[] = {{fd_, POLLOUT, 0}, {wake_, POLLIN, 0}};
      if (::poll(waiting, 2, kPatienceMs) <= 0 || waiting[1].revents != 0) return false;
      const ssize_t more =
          ::send(fd_, text.data() + sent, text.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (more <= 0) return false;
      sent += static_cast<size_t>(more);
    }
    return true;
  }

 private:
  const int fd_;
  const int wake_;
  const base::DescriptorIdentity identity_;
  std::string text_;
};

}  // namespace

base::Status ControlServer::listen() {
  const std::filesystem::path folder = control_folder();
  if (base::Status status = ensure_private_folder(folder); !status) return status;
  const std::filesystem::path path = control_path(folder, ::getpid());
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return base::Status::from_errno(errno, "socket");
  base::Status status = bind_to(listener_, path);
  if (status && ::listen(listener_, kMaxWaiting) != 0) {
    status = base::Status::from_errno(errno, path.string());
  }
  listener_identity_ = base::DescriptorIdentity(listener_);
  if (status) {
    path_ = path;
  } else {
    close_descriptors();
  }
  return status;
}

bool ControlServer::start(Controlled& target, const Schedule& schedule) {
  target_ = &target;
  schedule_ = schedule;
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  wake_identity_ = base::DescriptorIdentity(wake_);
  return wake_ >= 0 && thread_.start("gpufl-control", [this] { run(); });
}

void ControlServer::ask_to_stop() {
  // First, so that nobody finds a door behind which nobody is.
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
  stops_ = true;
  if (wake_identity_.is_of(wake_)) ::eventfd_write(wake_, 1);
}

void ControlServer::close_descriptors() {
  listener_identity_.close(listener_);
  wake_identity_.close(wake_);
  listener_ = wake_ = -1;
}

void ControlServer::stop() {
  ask_to_stop();
  thread_.join();
  close_descriptors();
}

bool ControlServer::stop_within(std::chrono::milliseconds patience) {
  ask_to_stop();
  return thread_.join_for(patience);
}

void ControlServer::abandon() { close_descriptors(); }

void ControlServer::run() {
  while (true) {
    serve_schedule();
    // A negative descriptor is passed over.
    pollfd waiting[] = {{wake_identity_.is_of(wake_) ? wake_ : -1, POLLIN, 0},
                        {listener_identity_.is_of(listener_) ? listener_ : -1, POLLIN, 0}};
    const int ready = ::poll(waiting, 2, until_next_ms());
    if (ready < 0 && errno != EINTR) return;
    if (waiting[0].revents != 0 || stops_) return;
    const bool is_called = ready > 0 && waiting[1].revents != 0;
    if (is_called && listener_identity_.is_of(listener_)) serve_connection();
  }
}

int ControlServer::until_next_ms() const {
  int64_t next_ns = INT64_MAX;
  if (schedule_.resume_at_ns) next_ns = std::min(next_ns, *schedule_.resume_at_ns);
  if (schedule_.end_at_ns) next_ns = std::min(next_ns, *schedule_.end_at_ns);
  if (next_ns == INT64_MAX) return kLongestWaitMs;
  const int64_t left_ns = std::max<int64_t>(next_ns - base::monotonic_ns(), 0);
  return static_cast<int>(std::min(left_ns / kMillisecondNs + 1, kLongestWaitMs));
}

void ControlServer::serve_schedule() {
  const int64_t now_ns = base::monotonic_ns();
  // What stands in the way of resuming is in the session's own records.
  if (schedule_.resume_at_ns && *schedule_.resume_at_ns <= now_ns) {
    schedule_.resume_at_ns.reset();
    (void)target_->resume();
  }
  if (schedule_.end_at_ns && *schedule_.end_at_ns <= now_ns) {
    schedule_ = {};
    (void)target_->end();
  }
}

void ControlServer::serve_connection() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  Connection connection(fd, wake_);
  if (!is_own_user(fd)) return;
  std::string line;
  while (true) {
    switch (connection.read_line(line)) {
      case Connection::Got::Nothing: return;
      case Connection::Got::TooLong:
        connection.write_line(refusal("too_long", "a request has at most 4096 bytes"));
        return;
      case Connection::Got::Line:
        if (!connection.write_line(answer(line))) return;
    }
    serve_schedule();
  }
}

base::Json ControlServer::answer(std::string_view line) {
  const auto request = base::Json::parse(line, kMaxControlLine);
  if (!request) return refusal("bad_request", request.status().message());
  if (!request->is_object()) return refusal("bad_request", "a request is a JSON object");
  return outcome((*request)["command"].as_string(), *request);
}

// Numbers that make no sense are refused, not cut to what does.
base::Json ControlServer::deep(const base::Json& request) {
  if (request["close"].as_bool()) return to_reply(target_->end_deep_window());
  constexpr int64_t kLongestMs = capture::DeepWindows::kLongest_ns / kMillisecondNs;
  const auto number = [&](std::string_view key, int64_t most) -> std::optional<int64_t> {
    const base::Json* const value = request.find(key);
    if (value == nullptr) return 0;
    const int64_t given = value->as_integer(-1);
    return given >= 0 && given <= most ? std::optional(given) : std::nullopt;
  };
  const auto duration_ms = number("max_duration_ms", kLongestMs);
  const auto launches = number("max_launches", INT64_MAX);
  if (!duration_ms || !launches) {
    return refusal("InvalidArgument", "max_duration_ms is a whole number of at most " +
                                          std::to_string(kLongestMs) +
                                          ", and max_launches one that is not negative");
  }
  return to_reply(
      target_->open_deep_window({*duration_ms * kMillisecondNs, static_cast<uint64_t>(*launches), 0,
                                 request["name"].as_string()}));
}

base::Json ControlServer::outcome(std::string_view command, const base::Json& request) {
  if (command == "status") {
    base::Json reply = to_reply(base::Status::ok());
    reply.set("pid", int64_t{::getpid()});
    const base::Json status = target_->status();
    for (const auto& [key, value] : status.members()) reply.set(key, value);
    return reply;
  }
  if (command == "start") return to_reply(target_->resume());
  if (command == "stop") return to_reply(target_->pause());
  if (command == "flush") return to_reply(target_->flush());
  if (command == "mark") return to_reply(target_->mark(request["text"].as_string()));
  if (command == "deep") return deep(request);
  if (command == "end") {
    schedule_ = {};
    return to_reply(target_->end());
  }
  return refusal("unknown_command", "there is no command \"" + std::string(command) + "\"");
}

}  // namespace gpufl::client
