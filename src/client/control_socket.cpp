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

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// A link is no folder, whatever it leads to.
base::Status check_private(const fs::path& folder) {
  struct stat facts = {};
  if (::lstat(folder.c_str(), &facts) != 0) return base::Status::from_errno(errno, folder.string());
  if (!S_ISDIR(facts.st_mode)) {
    return {base::Code::PermissionDenied, folder.string() + " is no folder"};
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

base::Result<FileDescriptor> connect_to(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof address.sun_path) {
    return base::Status(base::Code::InvalidArgument, path.string() + ": the path is too long");
  }
  std::memcpy(address.sun_path, path.c_str(), path.native().size() + 1);
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0 ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    // Full of others that wait (EAGAIN), or nobody there: what it means is the caller's.
    return base::Status::from_errno(errno, path.string());
  }
  return fd;
}

// False when `deadline` passed first.
bool wait_for(int fd, short what, steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
  pollfd waiting{fd, what, 0};
  return left > 0 && ::poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left, 60'000))) == 1;
}

bool send_all(int fd, std::string_view text, steady_clock::time_point deadline) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      text.remove_prefix(static_cast<size_t>(sent));
    } else if (!(sent < 0 && errno == EAGAIN && wait_for(fd, POLLOUT, deadline))) {
      return false;
    }
  }
  return true;
}

std::optional<std::string> receive_line(int fd, steady_clock::time_point deadline) {
  std::string text;
  char piece[4096];
  while (text.size() < kMaxControlReply && wait_for(fd, POLLIN, deadline)) {
    const ssize_t got = ::recv(fd, piece, sizeof piece, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return std::nullopt;
    text.append(piece, static_cast<size_t>(got));
    if (const size_t end = text.find('\n'); end != std::string::npos) return text.substr(0, end);
  }
  return std::nullopt;
}

base::Status not_listening(pid_t pid) {
  const std::string who = "process " + std::to_string(pid);
  if (is_gone(pid)) return {base::Code::NotFound, "there is no " + who};
  struct stat facts = {};
  if (::stat(("/proc/" + std::to_string(pid)).c_str(), &facts) == 0 &&
      facts.st_uid != ::geteuid()) {
    return {base::Code::PermissionDenied, who + " belongs to another user"};
  }
  return {base::Code::NotFound, who + " does not record, or not so that it can be controlled"};
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
  for (const fs::path& folder : control_folders()) {
    if (!check_private(folder)) continue;
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

base::Result<base::Json> ask_process(pid_t pid, const base::Json& request, milliseconds patience) {
  const auto deadline = steady_clock::now() + patience;
  for (const fs::path& folder : control_folders()) {
    if (!check_private(folder)) continue;
    const auto connection = connect_to(control_path(folder, pid));
    if (!connection) continue;
    const int fd = connection->get();
    const std::string who = "process " + std::to_string(pid);
    if (!send_all(fd, request.dump() + "\n", deadline)) {
      return base::Status(base::Code::Unavailable, who + " does not listen any more");
    }
    const auto line = receive_line(fd, deadline);
    if (!line) return base::Status(base::Code::Unavailable, who + " gave no answer");
    auto answer = base::Json::parse(*line);
    if (!answer) return answer.status();
    if (!answer->is_object()) return base::Status(base::Code::Corrupt, who + " answers nonsense");
    return answer;
  }
  return not_listening(pid);
}

}  // namespace gpufl::client
