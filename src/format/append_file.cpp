// SPDX-License-Identifier: Apache-2.0
#include "format/append_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace gpufl::format {

int AppendFile::open_new(const std::filesystem::path& path) {
  close();
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) return errno;
  size_ = 0;
  torn_ = false;
  return 0;
}

int AppendFile::append(std::string_view lines) {
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

int AppendFile::sync() { return ::fdatasync(fd_) == 0 ? 0 : errno; }

void AppendFile::swap(AppendFile& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  std::swap(torn_, other.torn_);
}

void AppendFile::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace gpufl::format
