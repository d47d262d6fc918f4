// SPDX-License-Identifier: Apache-2.0
#include "format/append_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace gpufl::format {

int AppendFile::open_new(const std::filesystem::path& path) {
  close();
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND;
  fd_ = base::open_above_standard(path.c_str(), kFlags, 0644);
  if (fd_ < 0) return errno;
  identity_ = base::DescriptorIdentity(fd_);
  path_ = path;
  size_ = 0;
  torn_ = false;
  return 0;
}

int AppendFile::find_descriptor() {
  if (identity_.is_of(fd_)) return 0;
  const int again = base::open_above_standard(path_.c_str(), O_WRONLY | O_APPEND);
  // Numbers of files are used again: what has another length is another file.
  if (!identity_.is_of(again) || ::lseek(again, 0, SEEK_END) != static_cast<off_t>(size_)) {
    if (again >= 0) ::close(again);
    return EBADF;
  }
  fd_ = again;
  return 0;
}

int AppendFile::append(std::string_view lines) {
  if (const int error = find_descriptor(); error != 0) return error;
  size_t written = 0;
  while (written < lines.size()) {
    const ssize_t n = ::write(fd_, lines.data() + written, lines.size() - written);
    if (n >= 0) {
      written += static_cast<size_t>(n);
      continue;
    }
    if (errno == EINTR) continue;
    const int error = errno;
    if (written > 0 && ::ftruncate(fd_, static_cast<off_t>(size_)) != 0) {
      size_ += written;
      torn_ = true;
    }
    return error;
  }
  size_ += written;
  return 0;
}

int AppendFile::sync() {
  if (const int error = find_descriptor(); error != 0) return error;
  return ::fdatasync(fd_) == 0 ? 0 : errno;
}

void AppendFile::swap(AppendFile& other) noexcept {
  path_.swap(other.path_);
  std::swap(fd_, other.fd_);
  std::swap(identity_, other.identity_);
  std::swap(size_, other.size_);
  std::swap(torn_, other.torn_);
}

void AppendFile::close() {
  identity_.close(fd_);
  fd_ = -1;
}

}  // namespace gpufl::format
