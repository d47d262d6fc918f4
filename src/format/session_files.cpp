// SPDX-License-Identifier: Apache-2.0
#include "format/session_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace gpufl::format {
namespace {

constexpr const char* kLockName = "lock";

std::string window_stem(Channel channel, uint64_t window) {
  return std::string(to_string(channel)) + "." + std::to_string(window);
}

bool is_channel_name(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if ((c < 'a' || c > 'z') && c != '_') return false;
  }
  return true;
}

}  // namespace

std::string live_file_name(Channel channel) { return std::string(to_string(channel)) + ".log"; }

std::string raw_file_name(Channel channel, uint64_t window) {
  return window_stem(channel, window) + ".log";
}

std::string sealed_file_name(Channel channel, uint64_t window) {
  return window_stem(channel, window) + ".log.zst";
}

std::optional<Channel> find_channel(std::string_view name) {
  for (size_t i = 0; i < kChannelCount; ++i) {
    const auto channel = static_cast<Channel>(i);
    if (to_string(channel) == name) return channel;
  }
  return {};
}

std::optional<FileName> parse_file_name(std::string_view name) {
  FileName parsed;
  if (name.ends_with(".log.zst")) {
    parsed.form = FileName::Form::Sealed;
    name.remove_suffix(8);
  } else if (name.ends_with(".log")) {
    name.remove_suffix(4);
  } else {
    return {};
  }
  const size_t dot = name.find('.');
  const std::string_view stem = name.substr(0, dot);
  if (!is_channel_name(stem)) return {};
  parsed.channel = find_channel(stem);
  if (dot == std::string_view::npos) {
    if (parsed.form == FileName::Form::Sealed) return {};
    return parsed;
  }
  const std::string_view digits = name.substr(dot + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), parsed.window);
  // "07" and "7" would be the same window twice.
  const bool canonical = !digits.empty() && digits.front() != '0';
  if (error != std::errc() || end != digits.data() + digits.size() || !canonical) return {};
  if (parsed.form == FileName::Form::Live) parsed.form = FileName::Form::Raw;
  return parsed;
}

base::Status SessionLock::acquire(const std::filesystem::path& session_dir) {
  path_ = session_dir / kLockName;
  fd_ = base::open_above_standard(path_.c_str(), O_RDWR | O_CREAT, 0644);
  if (fd_ < 0) return base::Status::from_errno(errno, "cannot make " + path_.string());
  identity_ = base::DescriptorIdentity(fd_);
  // A lock of the open file, not of the process: a reader in this same process sees it too, and
  // closes its own descriptor without releasing it.
  flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(fd_, F_OFD_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) {
    forget();
    return base::Status(base::Code::Unavailable,
                        session_dir.string() + " is being written by another process");
  }
  // A file system without locks only loses the difference between "live" and "crashed".
  return {};
}

void SessionLock::release() {
  if (fd_ >= 0) ::unlink(path_.c_str());
  forget();
}

void SessionLock::forget() {
  identity_.close(fd_);
  fd_ = -1;
}

bool is_locked(const std::filesystem::path& session_dir) {
  const int fd =
      ::open((session_dir / kLockName).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  // Where too many files are open it cannot be known, and what may be written is left alone.
  if (fd < 0) return errno == EMFILE || errno == ENFILE;
  flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  const bool locked = ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(fd);
  return locked;
}

}  // namespace gpufl::format
