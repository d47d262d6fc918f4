// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/code/code_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <unordered_set>

namespace gpufl::backend {

CodeFile::CodeFile(const std::string& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  struct stat facts{};
  if (fd_ < 0) return;
  if (::fstat(fd_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    ::close(fd_);
    fd_ = -1;
    return;
  }
  size_ = static_cast<uint64_t>(facts.st_size);
  modified_ns_ = int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

CodeFile::~CodeFile() {
  if (fd_ >= 0) ::close(fd_);
}

ReadAt CodeFile::reader() const {
  return [fd = fd_](uint64_t offset, void* to, size_t bytes) {
    if (offset > INT64_MAX) return false;
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t got = ::pread(fd, at, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      offset += static_cast<uint64_t>(got);
      bytes -= static_cast<size_t>(got);
    }
    return true;
  };
}

// "7f12a000-7f12b000 r--p 00000000 08:01 1234   /usr/lib/libx.so"
std::vector<std::string> mapped_files() {
  std::vector<std::string> files;
  std::unordered_set<std::string> seen;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    if (path == std::string::npos || line.find(" (deleted)", path) != std::string::npos) continue;
    if (seen.insert(line.substr(path)).second) files.push_back(line.substr(path));
  }
  return files;
}

}  // namespace gpufl::backend
