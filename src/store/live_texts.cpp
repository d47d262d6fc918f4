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
  unsynced_[file.parent_path()].insert(file);
  struct stat before{};
  if (::fstat(out.fd(), &before) != 0) return Status::from_errno(errno, "cannot write live lines");
  const int failed = write_at(out.fd(), offset, text);
  if (failed == 0) return {};
  // A part of a line would be taken for all of it.
  if (Status undone = cut(file, static_cast<uint64_t>(before.st_size)); !undone) return undone;
  return Status::from_errno(failed, "cannot write live lines");
}

size_t LiveTexts::begin_settling() {
  for (auto& [folder, files] : unsynced_) settling_[folder].merge(files);
  unsynced_.clear();
  return settling_.size();
}

std::optional<LiveTexts::Unsynced> LiveTexts::next_to_settle() const {
  if (settling_.empty()) return std::nullopt;
  return *settling_.begin();
}

Status LiveTexts::sync(const Unsynced& session) {
  bool is_there = false;
  for (const fs::path& file : session.second) {
    const File out(file, O_RDONLY);
    if (out.fd() < 0 && errno == ENOENT) continue;
    if (out.fd() < 0 || ::fsync(out.fd()) != 0) {
      return Status::from_errno(errno, "cannot sync live lines");
    }
    is_there = true;
  }
  return is_there ? sync_folder(session.first) : Status();
}

Status LiveTexts::sync_all() {
  begin_settling();
  while (const auto next = next_to_settle()) {
    if (Status synced = sync(*next); !synced) return synced;
    settle(next->first);
  }
  return {};
}

Status LiveTexts::sync_folder_of(const fs::path& folder) {
  for (Sessions* sessions : {&settling_, &unsynced_}) {
    const auto found = sessions->find(folder);
    if (found == sessions->end()) continue;
    if (Status synced = sync(*found); !synced) return synced;
    sessions->erase(found);
  }
  return {};
}

void LiveTexts::keep_live(const fs::path& folder) {
  Lock& lock = locks_[folder];
  lock.used = Clock::now();
  if (lock.lock || lock.has_ended) return;
  lock.lock = std::make_unique<format::SessionLock>();
  // Without it the session only looks as if it had been cut off.
  (void)lock.lock->acquire(folder);
}

void LiveTexts::end(const fs::path& folder) {
  Lock& lock = locks_[folder];
  lock.used = Clock::now();
  lock.has_ended = true;
  if (lock.lock) lock.lock->release();
  lock.lock.reset();
}

bool LiveTexts::is_kept_live(const fs::path& folder) const {
  const auto found = locks_.find(folder);
  return found != locks_.end() && !found->second.has_ended;
}

void LiveTexts::end_idle(std::chrono::milliseconds patience) {
  const auto now = Clock::now();
  std::erase_if(locks_, [&](const auto& one) { return now - one.second.used > patience; });
}

}  // namespace gpufl::store
