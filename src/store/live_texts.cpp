// SPDX-License-Identifier: Apache-2.0
#include "store/live_texts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "store/folder_blobs.hpp"

namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Status;

class File {
 public:
  File(const fs::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

// An errno or 0.
int write_at(int fd, uint64_t offset, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(fd, text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    offset += static_cast<uint64_t>(written);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

uint64_t LiveTexts::size_of(const fs::path& file) {
  std::error_code error;
  const uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

base::Result<bool> LiveTexts::has(const fs::path& file, uint64_t offset, std::string_view text) {
  const File in(file, O_RDONLY);
  if (in.fd() < 0) return Status::from_errno(errno, file.string());
  std::string there(text.size(), '\0');
  size_t got = 0;
  while (got < there.size()) {
    const ssize_t read =
        ::pread(in.fd(), there.data() + got, there.size() - got, static_cast<off_t>(offset + got));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return Status::from_errno(errno, file.string());
    if (read == 0) return false;
    got += static_cast<size_t>(read);
  }
  return there == text;
}

Status LiveTexts::cut(const fs::path& file, uint64_t size) {
  ++cuts_;
  if (::truncate(file.c_str(), static_cast<off_t>(size)) == 0) return {};
  return Status::from_errno(errno, "cannot undo live lines");
}

Status LiveTexts::write(const fs::path& file, uint64_t offset, std::string_view text) {
  const File out(file, O_WRONLY | O_CREAT);
  if (out.fd() < 0) return Status::from_errno(errno, "cannot write live lines");
  unsynced_.insert(file);
  struct stat before{};
  if (::fstat(out.fd(), &before) != 0) return Status::from_errno(errno, "cannot write live lines");
  const int failed = write_at(out.fd(), offset, text);
  if (failed == 0) return {};
  // A part of a line would be taken for all of it.
  if (Status undone = cut(file, static_cast<uint64_t>(before.st_size)); !undone) return undone;
  return Status::from_errno(failed, "cannot write live lines");
}

Status LiveTexts::sync() {
  std::set<fs::path> folders;
  for (const fs::path& file : unsynced_) {
    const File out(file, O_RDONLY);
    if (out.fd() < 0 && errno == ENOENT) continue;
    if (out.fd() < 0 || ::fsync(out.fd()) != 0) {
      return Status::from_errno(errno, "cannot sync live lines");
    }
    folders.insert(file.parent_path());
  }
  for (const fs::path& folder : folders) {
    if (Status synced = sync_folder(folder); !synced) return synced;
  }
  unsynced_.clear();
  return {};
}

void LiveTexts::keep_live(const fs::path& folder) {
  Lock& lock = locks_[folder];
  lock.used = Clock::now();
  if (lock.lock) return;
  lock.lock = std::make_unique<format::SessionLock>();
  // Without it the session only looks as if it had been cut off.
  (void)lock.lock->acquire(folder);
}

void LiveTexts::end_idle(std::chrono::milliseconds patience) {
  const auto now = Clock::now();
  std::erase_if(locks_, [&](const auto& one) { return now - one.second.used > patience; });
}

}  // namespace gpufl::store
