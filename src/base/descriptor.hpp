// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

// Descriptors inside of somebody else's program, which may close all of them (daemons do) and open
// its own files in their place. A question costs one fstat(). One thread at a time.
namespace gpufl::base {

// As open(), but never standard input, output or error: what the program prints would go there.
inline int open_above_standard(const char* path, int flags, mode_t mode = 0) {
  const int fd = ::open(path, flags | O_CLOEXEC, mode);
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int above = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(fd);
  errno = error;
  return above;
}

// What a descriptor was opened for.
class DescriptorIdentity {
 public:
  DescriptorIdentity() = default;
  explicit DescriptorIdentity(int fd) { is_known_ = ::fstat(fd, &file_) == 0; }

  bool is_of(int fd) const {
    struct stat now{};
    return is_known_ && fd >= 0 && ::fstat(fd, &now) == 0 && now.st_dev == file_.st_dev &&
           now.st_ino == file_.st_ino;
  }
  // Not what the program has put there since.
  void close(int fd) const {
    if (is_of(fd)) ::close(fd);
  }

 private:
  struct stat file_{};
  bool is_known_ = false;
};

}  // namespace gpufl::base
