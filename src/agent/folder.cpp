// SPDX-License-Identifier: Apache-2.0
#include "agent/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/sha256.hpp"

namespace gpufl::agent {
namespace {

constexpr size_t kPieceBytes = size_t{256} * 1024;

base::Status refused(const std::filesystem::path& path, const char* what) {
  return {base::Code::PermissionDenied, path.string() + " is " + what + ", and is left alone"};
}

// Of openat() with O_NOFOLLOW.
base::Status not_opened(const std::filesystem::path& path) {
  if (errno == ELOOP) return refused(path, "a link");
  return base::Status::from_errno(errno, "cannot open " + path.string());
}

FileStamp stamp_of(int fd) {
  struct stat now{};
  if (::fstat(fd, &now) != 0) return {};
  return {now.st_ino, static_cast<uint64_t>(now.st_size),
          int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec};
}

bool is_plain(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

}  // namespace

OpenFile::~OpenFile() {
  if (fd_ >= 0) ::close(fd_);
}
OpenFile::OpenFile(OpenFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

std::filesystem::path OpenFile::path() const { return "/proc/self/fd/" + std::to_string(fd_); }

uint64_t OpenFile::size() const {
  struct stat now{};
  return ::fstat(fd_, &now) == 0 ? static_cast<uint64_t>(now.st_size) : 0;
}

FileStamp OpenFile::stamp() const { return stamp_of(fd_); }

base::Status OpenFile::read(uint64_t offset, std::span<char> into) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(fd_, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::Status::from_errno(errno, "cannot read a file of the session");
    if (got == 0) return {base::Code::Corrupt, "a file of the session has got shorter"};
    offset += static_cast<uint64_t>(got);
    into = into.subspan(static_cast<size_t>(got));
  }
  return {};
}

base::Result<std::string> OpenFile::sha256(uint64_t bytes) const {
  base::Sha256 hash;
  std::vector<char> piece(kPieceBytes);
  for (uint64_t offset = 0; offset < bytes; offset += piece.size()) {
    piece.resize(static_cast<size_t>(std::min<uint64_t>(kPieceBytes, bytes - offset)));
    if (base::Status status = read(offset, piece); !status) return status;
    hash.add({piece.data(), piece.size()});
  }
  return hash.finish();
}

base::Result<Folder> Folder::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return base::Status::from_errno(errno, "cannot open " + path.string());
  return Folder(fd, path);
}

Folder::~Folder() {
  if (fd_ >= 0) ::close(fd_);
}
Folder::Folder(Folder&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

Folder& Folder::operator=(Folder&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

base::Result<Folder> Folder::open_folder(const std::string& name) const {
  const std::filesystem::path path = path_ / name;
  if (!is_plain(name)) return refused(path, "not a name of a folder");
  const int fd = ::openat(fd_, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0) return Folder(fd, path);
  // Of a link to a folder the system says that it is no folder.
  if (errno == ENOTDIR) return refused(path, "not a folder");
  return not_opened(path);
}

base::Result<OpenFile> Folder::open_file(const std::string& name) const {
  const std::filesystem::path path = path_ / name;
  if (!is_plain(name)) return refused(path, "not a name of a file");
  // Without waiting for the other end of a pipe.
  const int fd =
      ::openat(fd_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return not_opened(path);
  OpenFile file(fd);
  struct stat what{};
  if (::fstat(fd, &what) != 0)
    return base::Status::from_errno(errno, "cannot look at " + path.string());
  if (!S_ISREG(what.st_mode)) return refused(path, "not a regular file");
  return file;
}

FileStamp Folder::stamp() const { return stamp_of(fd_); }

base::Result<std::vector<std::string>> Folder::names() const {
  std::vector<std::string> names;
  // A descriptor of its own, from the beginning of the folder.
  const int fd = ::openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  const auto not_read = [this] {
    return base::Status::from_errno(errno, "cannot read the folder " + path_.string());
  };
  if (!stream) return not_read();
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    if (is_plain(entry->d_name)) names.emplace_back(entry->d_name);
    errno = 0;
  }
  if (errno != 0) return not_read();
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace gpufl::agent
