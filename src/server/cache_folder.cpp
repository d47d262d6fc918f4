// SPDX-License-Identifier: Apache-2.0
#include "server/cache_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
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
constexpr size_t kMostNoteBytes = size_t{1} << 20;
constexpr auto kTemporaryAge = std::chrono::hours(24);

Status make_private(const fs::path& folder) {
  std::error_code error;
  if (!folder.parent_path().empty()) fs::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Status::from_errno(errno, folder.string());
  }
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

}  // namespace

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
        {"exports", ""},
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
  struct Result {
    fs::file_time_type used;
    fs::path path;
    uint64_t bytes;
  };
  std::vector<Result> results;
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_ / kResults, error)) {
    std::error_code gone;
    const Result one{entry.last_write_time(gone), entry.path(), entry.file_size(gone)};
    if (gone || entry.path().filename().string().starts_with(kTemporary)) continue;
    results.push_back(one);
    bytes += one.bytes;
  }
  std::sort(results.begin(), results.end(),
            [](const Result& a, const Result& b) { return a.used < b.used; });
  for (const Result& one : results) {
    if (bytes <= keep_bytes) break;
    fs::remove(one.path, error);
    bytes -= one.bytes;
  }
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
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return Status::from_errno(error, file.string());
}

}  // namespace gpufl::server
