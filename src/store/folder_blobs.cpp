// SPDX-License-Identifier: Apache-2.0
#include "store/folder_blobs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Status;

class IncomingFile : public IncomingBlob {
 public:
  IncomingFile(fs::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~IncomingFile() override {
    ::close(fd_);
    // Where it was put in place, there is nothing of that name.
    ::unlink(path_.c_str());
  }

  Status append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return Status::from_errno(errno, "cannot write what is received");
      bytes.remove_prefix(static_cast<size_t>(written));
      size_ += static_cast<uint64_t>(written);
    }
    return {};
  }
  Status sync() override {
    if (::fdatasync(fd_) == 0) return {};
    return Status::from_errno(errno, "cannot sync what was received");
  }
  uint64_t size() const override { return size_; }
  const fs::path& path() const override { return path_; }

 private:
  const fs::path path_;
  const int fd_;
  uint64_t size_ = 0;
};

Status failure(const std::error_code& error, const std::string& what) {
  return Status::from_errno(error.value(), what);
}

}  // namespace

Status sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Status::from_errno(errno, "cannot open " + folder.string());
  const int failed = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  return failed == 0 ? Status() : Status::from_errno(failed, "cannot sync " + folder.string());
}

base::Result<std::unique_ptr<FolderBlobs>> FolderBlobs::open(const fs::path& folder) {
  std::unique_ptr<FolderBlobs> blobs(new FolderBlobs(folder));
  std::error_code error;
  fs::remove_all(blobs->incoming_, error);
  if (!error) fs::create_directory(blobs->incoming_, error);
  if (error) return failure(error, "cannot use " + blobs->incoming_.string());
  return blobs;
}

base::Result<IncomingPtr> FolderBlobs::receive() {
  fs::path path = incoming_ / std::to_string(received_++);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return Status::from_errno(errno, "cannot receive anything");
  return IncomingPtr(std::make_unique<IncomingFile>(std::move(path), fd));
}

// What was not there is listed in the folder above it, which has to last as well.
Status FolderBlobs::make_folders(const fs::path& folder) {
  struct stat info{};
  if (::stat(folder.c_str(), &info) == 0) return {};
  if (Status made = make_folders(folder.parent_path()); !made) return made;
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Status::from_errno(errno, "cannot make " + folder.string());
  }
  unsynced_.insert(folder.parent_path());
  return {};
}

Status FolderBlobs::place(IncomingBlob& blob, const std::string& name) {
  const fs::path path = path_of(name);
  if (Status made = make_folders(path.parent_path()); !made) return made;
  if (::rename(blob.path().c_str(), path.c_str()) != 0) {
    return Status::from_errno(errno, "cannot put " + name + " in place");
  }
  unsynced_.insert(path.parent_path());
  return {};
}

Status FolderBlobs::link(const std::string& name, const std::string& second) {
  const fs::path path = path_of(second);
  if (Status made = make_folders(path.parent_path()); !made) return made;
  if (::link(path_of(name).c_str(), path.c_str()) != 0 && errno != EEXIST) {
    return Status::from_errno(errno, "cannot link " + second);
  }
  unsynced_.insert(path.parent_path());
  return {};
}

Status FolderBlobs::replace(const std::string& name, const std::string& by) {
  const fs::path path = path_of(name);
  if (::rename(path_of(by).c_str(), path.c_str()) != 0) {
    return Status::from_errno(errno, "cannot put " + name + " in place");
  }
  unsynced_.insert(path.parent_path());
  return {};
}

Status FolderBlobs::make_place(const std::string& prefix) {
  return make_folders(folder_of(prefix));
}

bool FolderBlobs::exists(const std::string& name) const {
  std::error_code error;
  return fs::exists(path_of(name), error);
}

Status FolderBlobs::remove(const std::string& name) {
  const fs::path path = path_of(name);
  if (::unlink(path.c_str()) != 0) {
    return errno == ENOENT ? Status() : Status::from_errno(errno, "cannot remove " + name);
  }
  unsynced_.insert(path.parent_path());
  return {};
}

Status FolderBlobs::remove_all(const std::string& prefix) {
  const fs::path folder = folder_of(prefix);
  std::error_code error;
  if (fs::remove_all(folder, error) > 0) has_left(folder);
  return error ? failure(error, "cannot remove " + prefix) : Status();
}

Status FolderBlobs::move_all(const std::string& prefix, const std::string& to) {
  const fs::path from = folder_of(prefix), path = folder_of(to);
  if (Status made = make_folders(path.parent_path()); !made) return made;
  if (::rename(from.c_str(), path.c_str()) != 0) {
    return errno == ENOENT ? Status() : Status::from_errno(errno, "cannot move " + prefix);
  }
  has_left(from);
  unsynced_.insert({path, path.parent_path()});
  return {};
}

// A folder that is not there cannot be synced; the one that listed it can.
void FolderBlobs::has_left(const fs::path& folder) {
  std::erase_if(unsynced_, [&](const fs::path& one) {
    return one == folder || one.string().starts_with(folder.string() + "/");
  });
  unsynced_.insert(folder.parent_path());
}

fs::path FolderBlobs::folder_of(const std::string& prefix) const {
  return folder_ / prefix.substr(0, prefix.size() - 1);
}

Status FolderBlobs::sync() {
  while (failed_ && !unsynced_.empty()) {
    const Status synced = sync_folder(*unsynced_.begin());
    // One that somebody has taken away would fail for ever.
    const bool is_over = synced || synced.code() == base::Code::NotFound;
    if (is_over) unsynced_.erase(unsynced_.begin());
    if (is_over && !synced) return synced;
    if (!synced) {
      failed_ = {synced.code(), synced.message() +
                                    "; nothing more is taken until the disk is well and the server "
                                    "has been started again"};
    }
  }
  return failed_;
}

Status FolderBlobs::list(const std::string& prefix, const Visitor& see) const {
  const fs::path from = prefix.empty() ? folder_ : folder_of(prefix);
  std::error_code error;
  fs::recursive_directory_iterator entry(from, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code type_error;
    if (!entry->is_regular_file(type_error)) continue;
    const uint64_t bytes = entry->file_size(type_error);
    see(entry->path().lexically_relative(folder_).string(), type_error ? 0 : bytes);
  }
  return error ? failure(error, "cannot list " + from.string()) : Status();
}

}  // namespace gpufl::store
