// SPDX-License-Identifier: Apache-2.0
#include "store/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace gpufl::store {

base::Result<std::unique_ptr<FolderLock>> FolderLock::take(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return base::Status::from_errno(errno, "cannot make " + folder.string());
  }
  const auto file = folder / "lock";
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return base::Status::from_errno(errno, "cannot open " + file.string());
  std::unique_ptr<FolderLock> lock(new FolderLock(fd));
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) {
    // What servers before this one made and had no time to sync is there, and would be taken for
    // synced: files, and folders up to the first that was made for this one.
    if (::syncfs(fd) == 0) return lock;
    return base::Status::from_errno(errno, "cannot sync " + folder.string());
  }
  if (errno != EWOULDBLOCK) return base::Status::from_errno(errno, "cannot lock " + file.string());
  return base::Status(base::Code::Unavailable,
                      "another server uses " + folder.string() + "; stop it first");
}

FolderLock::~FolderLock() { ::close(fd_); }

std::filesystem::path catalogue_file(const std::filesystem::path& folder) {
  return folder / "catalogue.db";
}

}  // namespace gpufl::store
