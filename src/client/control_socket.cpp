// SPDX-License-Identifier: Apache-2.0
#include "client/control_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace gpufl::client {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kSocketSuffix = ".sock";
// A socket does not say when there is room in its queue again.
constexpr milliseconds kQueueRetry{10};
constexpr milliseconds kLongestPause{60'000};

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// A link is no folder, whatever it leads to.
base::Status check_private(const fs::path& folder) {
  struct stat facts = {};
  if (::lstat(folder.c_str(), &facts) != 0) return base::Status::from_errno(errno, folder.string());
  if (!S_ISDIR(facts.st_mode)) {
    return {base::Code::PermissionDenied, folder.string() + " is not a folder"};
  }
  if (facts.st_uid != ::geteuid() || (facts.st_mode & 077) != 0) {
    return {base::Code::PermissionDenied,
            folder.string() + " belongs to another user or is open to others"};
  }
  return base::Status::ok();
}

std::optional<fs::path> runtime_folder() {
  const char* text = std::getenv("XDG_RUNTIME_DIR");
  if (text == nullptr || *text != '/') return std::nullopt;
  constexpr size_t kLongestName = sizeof("/gpufl/2147483647.sock");
  struct stat facts = {};
  if (std::strlen(text) + kLongestName > sizeof(sockaddr_un::sun_path)) return std::nullopt;
  if (::stat(text, &facts) != 0 || !S_ISDIR(facts.st_mode)) return std::nullopt;
  if (facts.st_uid != ::geteuid() || (facts.st_mode & 022) != 0) return std::nullopt;
  return fs::path(text) / "gpufl";
}

fs::path shared_folder() { return "/tmp/gpufl-" + std::to_string(::geteuid()); }

std::optional<pid_t> pid_of(const fs::path& socket) {
  const std::string name = socket.filename().string();
  if (!name.ends_with(kSocketSuffix)) return std::nullopt;
  const std::string_view digits(name.data(), name.size() - kSocketSuffix.size());
  pid_t pid = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  if (error != std::errc() || stop != digits.data() + digits.size() || pid <= 0) return {};
  return pid;
}

bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

// None: errno says why.
std::optional<FileDescriptor> connect_to(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return std::nullopt;
  }
  std::memcpy(address.sun_path, path.c_str(), path.native().size() + 1);
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0 ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return std::nullopt;
  }
  return fd;
}

base::Status not_listening(pid_t pid) {
  const std::string who = "process " + std::to_string(pid);
  if (is_gone(pid)) return {base::Code::NotFound, "there is no " + who};
  struct stat facts = {};
  if (::stat(("/proc/" + std::to_string(pid)).c_str(), &facts) == 0 &&
      facts.st_uid != ::geteuid()) {
    return {base::Code::PermissionDenied, who + " belongs to another user"};
  }
  return {base::Code::NotFound, who + " is not recording, or cannot be controlled"};
}

// A question to one process and its answer, as far as they have come.
class Exchange {
 public:
  // `folders` must outlive it.
  Exchange(const ControlQuestion& question, std::span<const fs::path> folders)
      : pid_(question.pid), folders_(folders), unsent_(question.request.dump() + "\n") {
    connect();
  }

  // The process lives, but so many others wait for it that there is no room for us yet.
  bool is_queueing() const { return is_queueing_; }
  void connect() {
    is_queueing_ = false;
    bool is_full = false;
    for (const fs::path& folder : folders_) {
      connection_ = connect_to(control_path(folder, pid_));
      if (connection_) return;
      is_full = is_full || errno == EAGAIN;
    }
    is_queueing_ = is_full;
    if (!is_full) failure_ = not_listening(pid_);
  }

  bool is_connected() const { return connection_.has_value(); }
  pollfd wanted() const {
    return {connection_->get(), static_cast<short>(unsent_.empty() ? POLLIN : POLLOUT), 0};
  }
  // When there is what it wanted.
  void go_on() {
    if (unsent_.empty()) {
      receive();
    } else {
      send();
    }
  }
  // What never came is no answer. Call once.
  base::Result<base::Json> take_answer() {
    if (is_connected() || is_queueing()) fail();
    if (!failure_) return failure_;
    auto answer = base::Json::parse(answer_);
    if (!answer) return answer.status();
    if (!answer->is_object()) {
      return base::Status(base::Code::Corrupt, who() + " sent an invalid answer");
    }
    return answer;
  }

 private:
  std::string who() const { return "process " + std::to_string(pid_); }
  void fail() {
    failure_ = {base::Code::Unavailable, who() + " did not answer"};
    connection_.reset();
  }

  void send() {
    const ssize_t sent = ::send(connection_->get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      unsent_.erase(0, static_cast<size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      // It hears no more, but may have answered: it does not read a request that is too long to
      // its end.
      unsent_.clear();
    }
  }

  void receive() {
    char piece[4096];
    const ssize_t got = ::recv(connection_->get(), piece, sizeof piece, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return fail();
    answer_.append(piece, static_cast<size_t>(got));
    if (const size_t end = answer_.find('\n'); end != std::string::npos) {
      answer_.resize(end);
      connection_.reset();
    } else if (answer_.size() >= kMaxControlReply) {
      fail();
    }
  }

  pid_t pid_;
  std::span<const fs::path> folders_;
  bool is_queueing_ = false;
  std::optional<FileDescriptor> connection_;  // until there is an answer, or there will be none
  base::Status failure_;
  std::string unsent_, answer_;
};

std::vector<fs::path> usable_folders() {
  std::vector<fs::path> folders = control_folders();
  std::erase_if(folders, [](const fs::path& folder) { return !check_private(folder); });
  return folders;
}

}  // namespace

fs::path control_folder() { return runtime_folder().value_or(shared_folder()); }

std::vector<fs::path> control_folders() {
  std::vector<fs::path> folders;
  if (auto folder = runtime_folder()) folders.push_back(std::move(*folder));
  folders.push_back(shared_folder());
  return folders;
}

base::Status ensure_private_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return base::Status::from_errno(errno, folder.string());
  }
  return check_private(folder);
}

fs::path control_path(const fs::path& folder, pid_t pid) {
  return folder / (std::to_string(pid) + std::string(kSocketSuffix));
}

std::vector<pid_t> find_controlled_processes() {
  std::vector<pid_t> found;
  for (const fs::path& folder : usable_folders()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const auto pid = pid_of(entry.path());
      if (!pid) continue;
      if (is_gone(*pid)) {
        ::unlink(entry.path().c_str());
      } else {
        found.push_back(*pid);
      }
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<base::Result<base::Json>> ask_processes(std::span<const ControlQuestion> questions,
                                                    milliseconds patience) {
  const auto deadline = steady_clock::now() + patience;
  const std::vector<fs::path> folders = usable_folders();
  std::vector<Exchange> exchanges;
  exchanges.reserve(questions.size());
  for (const ControlQuestion& question : questions) exchanges.emplace_back(question, folders);
  std::vector<pollfd> waiting;
  std::vector<Exchange*> whose;
  while (true) {
    waiting.clear();
    whose.clear();
    bool is_queueing = false;
    for (Exchange& exchange : exchanges) {
      if (exchange.is_queueing()) exchange.connect();
      is_queueing = is_queueing || exchange.is_queueing();
      if (!exchange.is_connected()) continue;
      waiting.push_back(exchange.wanted());
      whose.push_back(&exchange);
    }
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if ((waiting.empty() && !is_queueing) || left.count() <= 0) break;
    const milliseconds pause = std::min(left, is_queueing ? kQueueRetry : kLongestPause);
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(pause.count())) < 0) {
      if (errno != EINTR) break;
      continue;
    }
    for (size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) whose[i]->go_on();
    }
  }
  std::vector<base::Result<base::Json>> answers;
  for (Exchange& exchange : exchanges) answers.push_back(exchange.take_answer());
  return answers;
}

base::Result<base::Json> ask_process(pid_t pid, const base::Json& request, milliseconds patience) {
  const ControlQuestion question{pid, request};
  return std::move(ask_processes({&question, 1}, patience).front());
}

}  // namespace gpufl::client
