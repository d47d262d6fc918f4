// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

// Preloaded into a program under test: notes what a disk would still have after a loss of power,
// and lets chosen calls fail. Of each file below GPUFL_DISK_OF it keeps what it held when it was
// synced last, of each folder what it listed then, in the folder GPUFL_DISK as file-INODE and
// folder-INODE; tests/e2e/power_loss_test.py builds the tree from that. Names are files' inodes, so
// nothing else has to be noted of renames, links and deletions.
//
// GPUFL_DISK_FAULT is "CALL NUMBER ERRNO PART": the call of that number ("fsync", "write", "open";
// counted from 1) on a path that contains PART fails; with "NUMBER+", all from there on until the
// file GPUFL_DISK/mended exists. GPUFL_DISK/failed exists once one has failed. As on Linux, a sync
// that has failed forgets what was to be written: a later one succeeds without it, unless it was
// written again.
namespace {

constexpr uint64_t kPage = 4096;

// Pages that were written since a sync of the file failed.
struct Lost {
  std::vector<std::pair<uint64_t, uint64_t>> written;  // from, to
};

struct Disk {
  std::string root, folder;
  std::string call, part;
  long number = 0;
  int error = 0;
  bool goes_on = false;
  std::mutex mutex;
  long calls = 0;
  std::map<ino_t, Lost> lost;
};

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::string text_of(const char* variable) {
  const char* value = getenv(variable);
  return value == nullptr ? "" : value;
}

Disk& disk() {
  static Disk* const made = [] {
    auto* one = new Disk;  // lives as long as the program calls
    one->root = text_of("GPUFL_DISK_OF");
    one->folder = text_of("GPUFL_DISK");
    std::array<char, 16> call{};
    std::array<char, 16> number{};
    std::array<char, 200> part{};
    const std::string fault = text_of("GPUFL_DISK_FAULT");
    std::array<char, 16> error{};
    if (sscanf(fault.c_str(), "%15s %15s %15s %199s", call.data(), number.data(), error.data(),
               part.data()) == 4) {
      one->call = call.data();
      one->number = strtol(number.data(), nullptr, 10);
      one->error = static_cast<int>(strtol(error.data(), nullptr, 10));
      one->goes_on = strchr(number.data(), '+') != nullptr;
      one->part = part.data();
    }
    return one;
  }();
  return *made;
}

// Empty: it is not below the folder.
std::string path_of(int fd) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = readlink(link.c_str(), path.data(), path.size() - 1);
  if (size <= 0) return {};
  std::string found(path.data(), static_cast<size_t>(size));
  const std::string& root = disk().root;
  const bool is_below = !root.empty() && found.compare(0, root.size(), root) == 0 &&
                        (found.size() == root.size() || found[root.size()] == '/');
  return is_below ? found : std::string();
}

int open_plainly(const std::string& path, int flags) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  return real(path.c_str(), flags | O_CLOEXEC, 0600);
}

// Whether this call is to fail.
bool fails(const char* call, const std::string& path) {
  Disk& of = disk();
  if (of.call != call || path.find(of.part) == std::string::npos) return false;
  if (of.goes_on && access((of.folder + "/mended").c_str(), F_OK) == 0) return false;
  const std::lock_guard lock(of.mutex);
  const long now = ++of.calls;
  if (now != of.number && !(of.goes_on && now > of.number)) return false;
  const int note = open_plainly(of.folder + "/failed", O_WRONLY | O_CREAT);
  if (note >= 0) close(note);
  errno = of.error;
  return true;
}

bool write_all(int fd, const char* bytes, size_t size, uint64_t offset) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  while (size > 0) {
    const ssize_t written = real(fd, bytes, size, static_cast<off_t>(offset));
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<size_t>(written);
    offset += static_cast<uint64_t>(written);
  }
  return true;
}

void copy_range(int from, int to, uint64_t begin, uint64_t end) {
  std::vector<char> part(size_t{1} << 16);
  while (begin < end) {
    const ssize_t got = pread(from, part.data(), std::min<uint64_t>(part.size(), end - begin),
                              static_cast<off_t>(begin));
    if (got <= 0 || !write_all(to, part.data(), static_cast<size_t>(got), begin)) return;
    begin += static_cast<uint64_t>(got);
  }
}

std::string name_of(const char* kind, ino_t inode) {
  return disk().folder + "/" + kind + "-" + std::to_string(inode);
}

// There is all of it or what was there before.
template <typename Fill>
void put(const std::string& name, Fill&& fill) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const std::string coming = name + ".coming";
  const int out = open_plainly(coming, O_RDWR | O_CREAT | O_TRUNC);
  if (out < 0) abort();
  fill(out);
  close(out);
  static auto* const real = next<int(const char*, const char*)>("rename");
  if (real(coming.c_str(), name.c_str()) != 0) abort();
}

void keep_file(const std::string& path, const struct stat& info) {
  const int in = open_plainly(path, O_RDONLY);
  if (in < 0) return;  // it has been unlinked: nobody can find it
  const std::string name = name_of("file", info.st_ino);
  Disk& of = disk();
  const std::lock_guard lock(of.mutex);
  const auto lost = of.lost.find(info.st_ino);
  put(name, [&](int out) {
    if (lost == of.lost.end()) return copy_range(in, out, 0, static_cast<uint64_t>(info.st_size));
    const int before = open_plainly(name, O_RDONLY);
    if (before >= 0) {
      copy_range(before, out, 0, UINT64_MAX);
      close(before);
    }
    for (const auto& [from, to] : lost->second.written) copy_range(in, out, from, to);
    if (ftruncate(out, info.st_size) != 0) abort();
  });
  close(in);
}

void keep_folder(const std::string& path, const struct stat& info) {
  put(name_of("folder", info.st_ino), [&](int out) {
    std::string list;
    DIR* folder = opendir(path.c_str());
    if (folder == nullptr) return;
    while (const dirent* entry = readdir(folder)) {
      const std::string name = entry->d_name;
      struct stat one{};
      if (name == "." || name == ".." || lstat((path + "/" + name).c_str(), &one) != 0) continue;
      list +=
          std::to_string(one.st_ino) + (S_ISDIR(one.st_mode) ? " folder " : " file ") + name + "\n";
    }
    closedir(folder);
    (void)write_all(out, list.data(), list.size(), 0);
  });
}

void keep(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) return;
  S_ISDIR(info.st_mode) ? keep_folder(path, info) : keep_file(path, info);
}

void keep_tree(const std::string& path) {
  keep(path);
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") keep_tree(path + "/" + name);
  }
  closedir(folder);
}

template <typename Sync>
int sync_one(int fd, Sync* real) {
  const std::string path = path_of(fd);
  if (path.empty()) return real(fd);
  if (fails("fsync", path)) {
    struct stat info{};
    if (fstat(fd, &info) == 0) {
      const std::lock_guard lock(disk().mutex);
      disk().lost[info.st_ino] = {};
    }
    errno = disk().error;
    return -1;
  }
  keep(path);
  return 0;
}

// An inode that is given again is another file.
void forget(const char* path) {
  struct stat info{};
  if (lstat(path, &info) != 0) return;
  static auto* const real = next<int(const char*)>("unlink");
  real(name_of("file", info.st_ino).c_str());
  real(name_of("folder", info.st_ino).c_str());
  const std::lock_guard lock(disk().mutex);
  disk().lost.erase(info.st_ino);
}

void note_write(int fd, uint64_t from, ssize_t size) {
  if (size <= 0) return;
  const std::lock_guard lock(disk().mutex);
  if (disk().lost.empty()) return;
  struct stat info{};
  if (fstat(fd, &info) != 0) return;
  const auto lost = disk().lost.find(info.st_ino);
  if (lost == disk().lost.end()) return;
  const uint64_t to = from + static_cast<uint64_t>(size);
  lost->second.written.emplace_back(from / kPage * kPage, (to + kPage - 1) / kPage * kPage);
}

int open_and_note(const char* path, int flags, mode_t mode, int (*real)(const char*, int, ...)) {
  const bool makes = (flags & O_CREAT) != 0;
  const bool was_there = !makes || access(path, F_OK) == 0;
  const bool is_ours =
      !disk().root.empty() && strncmp(path, disk().root.c_str(), disk().root.size()) == 0;
  if (makes && is_ours && fails("open", path)) return -1;
  const int fd = real(path, flags, mode);
  if (fd >= 0 && !was_there && is_ours) forget(path);
  return fd;
}

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

int fsync(int fd) {
  static auto* const real = next<int(int)>("fsync");
  return sync_one(fd, real);
}

int fdatasync(int fd) {
  static auto* const real = next<int(int)>("fdatasync");
  return sync_one(fd, real);
}

int syncfs(int fd) noexcept {
  const std::string& root = disk().root;
  (void)fd;
  keep_tree(root);
  const std::string above = root.substr(0, root.rfind('/'));
  keep(above);
  return 0;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  if (disk().call == "write" && fails("write", path_of(fd))) return -1;
  const off_t from = lseek(fd, 0, SEEK_CUR);
  const ssize_t written = real(fd, bytes, size);
  if (from >= 0) note_write(fd, static_cast<uint64_t>(from), written);
  return written;
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  if (disk().call == "write" && fails("write", path_of(fd))) return -1;
  const ssize_t written = real(fd, bytes, size, offset);
  note_write(fd, static_cast<uint64_t>(offset), written);
  return written;
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
  return pwrite(fd, bytes, size, offset);
}

int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, int));
  va_end(rest);
  return open_and_note(path, flags, mode, real);
}

int open64(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open64");
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, int));
  va_end(rest);
  return open_and_note(path, flags, mode, real);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const real = next<int(const char*, mode_t)>("mkdir");
  const int made = real(path, mode);
  if (made == 0 && !disk().root.empty()) forget(path);
  return made;
}

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
