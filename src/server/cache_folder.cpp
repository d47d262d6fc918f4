// SPDX-License-Identifier: Apache-2.0
#include "server/cache_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using base::Json;
using base::Status;

constexpr const char* kResults = "results";
constexpr const char* kNotes = "notes";
constexpr std::string_view kTemporary = "new-";
constexpr const char* kUse = ".use";
constexpr size_t kHashDigits = 32;
constexpr uint64_t kBlockBytes = 512;  // of stat(), whatever the disk has
constexpr size_t kMostNoteBytes = size_t{1} << 20;
constexpr auto kTemporaryAge = std::chrono::hours(24);

// An errno or 0.
int sync_folder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  return error;
}

Status make_private(const fs::path& folder) {
  std::error_code error;
  if (!folder.parent_path().empty()) fs::create_directories(folder.parent_path(), error);
  const int made = ::mkdir(folder.c_str(), 0700) == 0 ? 0 : errno;
  if (made != 0 && made != EEXIST) return Status::from_errno(made, folder.string());
  // Notes in it are to stay.
  const int failed = made == 0 ? sync_folder(folder.parent_path()) : 0;
  if (failed != 0) return Status::from_errno(failed, folder.string());
  struct stat info{};
  if (::stat(folder.c_str(), &info) != 0) return Status::from_errno(errno, folder.string());
  if (!S_ISDIR(info.st_mode)) {
    return {base::Code::InvalidArgument, folder.string() + " is not a folder"};
  }
  if (info.st_uid != ::geteuid()) {
    return {base::Code::PermissionDenied,
            folder.string() + " belongs to another user; name a folder with --cache"};
  }
  // Results quote what was recorded, which is its user's business alone.
  if ((info.st_mode & 077) != 0 && ::chmod(folder.c_str(), 0700) != 0) {
    return Status::from_errno(errno, folder.string());
  }
  return {};
}

bool is_hash(const std::string& name) {
  return name.size() == kHashDigits &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// What is kept under a hash, and when it was last used.
struct Kept {
  fs::file_time_type used;
  fs::path path;
  uint64_t bytes;
};

// The oldest first, until the others take no more than that.
template <typename Delete>
void delete_oldest(std::vector<Kept> all, uint64_t keep_bytes, Delete delete_one) {
  uint64_t bytes = 0;
  for (const Kept& one : all) bytes += one.bytes;
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.used < b.used; });
  for (const Kept& one : all) {
    if (bytes <= keep_bytes) return;
    if (delete_one(one.path)) bytes -= one.bytes;
  }
}

// A lock file in a folder, or -1.
int open_use(const fs::path& folder) {
  return ::open((folder / kUse).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

uint64_t disk_bytes(const fs::path& folder) {
  struct stat info{};
  uint64_t blocks = ::lstat(folder.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_blocks) : 0;
  std::error_code error;
  for (fs::recursive_directory_iterator one(folder, error), end; !error && one != end;
       one.increment(error)) {
    if (::lstat(one->path().c_str(), &info) == 0) blocks += static_cast<uint64_t>(info.st_blocks);
  }
  return blocks * kBlockBytes;
}

bool delete_unused(const fs::path& folder) {
  const int fd = open_use(folder);
  if (fd < 0) return false;
  // Under another name at once, so that nobody finds a part of it. What a kill leaves of that is
  // swept later.
  std::string gone = (folder.parent_path() / (std::string(kTemporary) + "XXXXXX")).string();
  const bool is_ours = ::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::mkdtemp(gone.data()) != nullptr &&
                       ::rename(folder.c_str(), gone.c_str()) == 0;
  ::close(fd);
  std::error_code ignored;
  if (is_ours) fs::remove_all(gone, ignored);
  return is_ours;
}

}  // namespace

std::optional<FolderUse> FolderUse::take(const fs::path& folder) {
  while (true) {
    const int fd = open_use(folder);
    if (fd < 0) return std::nullopt;
    FolderUse use(fd);
    int failed = 0;
    do {
      failed = ::flock(fd, LOCK_SH);
    } while (failed != 0 && errno == EINTR);
    if (failed != 0) return std::nullopt;
    // It may have been deleted, and made again, before it was locked.
    struct stat locked{}, found{};
    const bool is_there = ::fstat(fd, &locked) == 0 &&
                          ::stat((folder / kUse).c_str(), &found) == 0 &&
                          locked.st_ino == found.st_ino && locked.st_dev == found.st_dev;
    if (!is_there) continue;
    ::futimens(fd, nullptr);
    return use;
  }
}

FolderUse::~FolderUse() {
  if (fd_ < 0) return;
  ::futimens(fd_, nullptr);
  ::close(fd_);
}

void prune_folders(const fs::path& parent, uint64_t keep_bytes) {
  std::vector<Kept> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    std::error_code gone;
    if (!is_hash(entry.path().filename().string())) continue;
    if (entry.symlink_status(gone).type() != fs::file_type::directory) continue;
    auto used = fs::last_write_time(entry.path() / kUse, gone);
    if (gone) used = entry.last_write_time(gone);
    if (!gone) folders.push_back({used, entry.path(), disk_bytes(entry.path())});
  }
  delete_oldest(std::move(folders), keep_bytes, delete_unused);
}

std::string name_hash(std::string_view text) {
  return fmt::format("{:016x}{:016x}", base::xxh64(text.data(), text.size(), 0),
                     base::xxh64(text.data(), text.size(), 1));
}

std::optional<std::string> read_small_file(const fs::path& file, size_t most_bytes) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  struct stat info{};
  std::string text;
  bool is_whole = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                  static_cast<uint64_t>(info.st_size) <= most_bytes;
  if (is_whole) text.resize(static_cast<size_t>(info.st_size));
  for (size_t done = 0; is_whole && done < text.size();) {
    const ssize_t got = ::read(fd, text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    is_whole = got > 0;
    if (is_whole) done += static_cast<size_t>(got);
  }
  ::close(fd);
  if (!is_whole) return std::nullopt;
  return text;
}

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    text.remove_prefix(static_cast<size_t>(put));
  }
  return 0;
}

base::Result<fs::path> default_cache() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "gpufl";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache" / "gpufl";
  return Status(base::Code::NotFound,
                "neither XDG_CACHE_HOME nor HOME is set; name a folder with --cache");
}

base::Result<CacheFolder> CacheFolder::open(const fs::path& folder) {
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error);
  for (const fs::path& one : {absolute, absolute / kResults, absolute / kNotes}) {
    if (Status made = make_private(one); !made) return made;
  }
  return CacheFolder(absolute);
}

fs::path CacheFolder::subfolder(std::string_view name) const {
  const fs::path folder = folder_ / name;
  static_cast<void>(make_private(folder));
  return folder;
}

fs::path CacheFolder::result_file(std::string_view subject) const {
  return folder_ / kResults / name_hash(subject);
}

base::Result<int> CacheFolder::make_temporary(fs::path& path) const {
  std::string name = (folder_ / kResults / (std::string(kTemporary) + "XXXXXX")).string();
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);  // with mode 0600
  if (fd < 0) return Status::from_errno(errno, name);
  path = name;
  return fd;
}

void CacheFolder::sweep() const {
  const auto now = fs::file_time_type::clock::now();
  for (const auto& [folder, prefix] :
       {std::pair<const char*, std::string_view>{kResults, kTemporary},
        {"exports", kTemporary},
        {"index", kTemporary},
        {"imports", kTemporary}}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_ / folder, error)) {
      std::error_code gone;
      if (!entry.path().filename().string().starts_with(prefix)) continue;
      if (now - entry.last_write_time(gone) > kTemporaryAge && !gone) {
        fs::remove_all(entry.path(), gone);
      }
    }
  }
}

void CacheFolder::prune(uint64_t keep_bytes) const {
  std::vector<Kept> results;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_ / kResults, error)) {
    std::error_code gone;
    const Kept one{entry.last_write_time(gone), entry.path(), entry.file_size(gone)};
    if (!gone && is_hash(entry.path().filename().string())) results.push_back(one);
  }
  delete_oldest(std::move(results), keep_bytes, [](const fs::path& file) {
    std::error_code failed;
    return fs::remove(file, failed);
  });
}

Json CacheFolder::read_notes(std::string_view session_id) const {
  const auto text = read_small_file(folder_ / kNotes / name_hash(session_id), kMostNoteBytes);
  if (!text) return {};
  const auto parsed = Json::parse(*text);
  return parsed && parsed->is_object() ? *parsed : Json();
}

Status CacheFolder::write_notes(std::string_view session_id, const Json& notes) const {
  const fs::path file = folder_ / kNotes / name_hash(session_id);
  fs::path temporary;
  const auto fd = make_temporary(temporary);
  if (!fd) return fd.status();
  int error = write_all(*fd, notes.dump() + "\n");
  if (error == 0 && ::fsync(*fd) != 0) error = errno;
  ::close(*fd);
  if (error == 0 && ::rename(temporary.c_str(), file.c_str()) != 0) error = errno;
  if (error == 0) error = sync_folder(file.parent_path());
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return Status::from_errno(error, file.string());
}

void CacheFolder::remove_notes(std::string_view session_id) const {
  ::unlink((folder_ / kNotes / name_hash(session_id)).c_str());
}

void CacheFolder::keep_notes_of(const std::vector<std::string>& session_ids) const {
  std::set<std::string> kept;
  for (const std::string& id : session_ids) kept.insert(name_hash(id));
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_ / kNotes, error)) {
    const std::string name = entry.path().filename().string();
    if (is_hash(name) && !kept.contains(name)) ::unlink(entry.path().c_str());
  }
}

}  // namespace gpufl::server
