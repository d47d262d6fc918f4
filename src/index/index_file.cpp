// SPDX-License-Identifier: Apache-2.0
#include "index/index_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include "index/bucket_block.hpp"
#include "index/bytes.hpp"
#include "index/index_head.hpp"

namespace gpufl::index {
namespace {

constexpr std::string_view kMagic = "gpuflidx";
constexpr size_t kPrefixBytes = 32;  // magic, version, bytes of the head, 0
constexpr uint64_t kMaxHeadBytes = uint64_t{512} << 20;
// Levels end where one has so few buckets that it can be read whole.
constexpr size_t kBucketsOfTopLevel = 512;

base::Status damaged(const std::string& what) { return {base::Code::Corrupt, what}; }

base::Status failed(int error) {
  const std::string reason = std::generic_category().message(error);
  return {base::Status::from_errno(error, reason).code(), reason};
}

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Descriptors that indexes may keep, so that connections and windows find some, too.
class KeptDescriptors {
 public:
  static bool take() {
    if (count().fetch_add(1) < most()) return true;
    count().fetch_sub(1);
    return false;
  }
  static void give_back() { count().fetch_sub(1); }

 private:
  static std::atomic<uint64_t>& count() {
    static std::atomic<uint64_t> kept = 0;
    return kept;
  }
  static uint64_t most() {
    static const uint64_t half = [] {
      struct rlimit limit{};
      return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? uint64_t{limit.rlim_cur} / 2 : 0;
    }();
    return half;
  }
};

bool read_at(int fd, uint64_t offset, char* out, size_t size) {
  while (size != 0) {
    const ssize_t got = ::pread(fd, out, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    out += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::string prefix(uint64_t head_bytes) {
  std::string bytes(kMagic);
  for (const uint64_t number : {uint64_t{kIndexVersion}, head_bytes, uint64_t{0}}) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return bytes;
}

uint64_t number_at(std::string_view bytes, size_t offset) {
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

// The blocks of every level; offsets count from the first block.
void put_levels(Lane& lane, IndexedLane& entry, std::string& blocks) {
  std::vector<Bucket> level = lane.buckets();
  entry.shift = lane.shift();
  while (!level.empty()) {
    auto& stored = entry.levels.emplace_back();
    for (size_t i = 0; i < level.size(); i += kBucketsPerBlock) {
      const auto part = std::span(level).subspan(i, std::min(kBucketsPerBlock, level.size() - i));
      BucketBlock block;
      block.offset = blocks.size();
      encode_buckets(part, blocks);
      block.bytes = static_cast<uint32_t>(blocks.size() - block.offset);
      block.buckets = static_cast<uint32_t>(part.size());
      block.first = part.front().at;
      block.last = part.back().at;
      stored.push_back(block);
    }
    if (level.size() <= kBucketsOfTopLevel) break;
    level = level_above(level);
  }
}

}  // namespace

base::Status IndexFile::write(const std::filesystem::path& path, const WindowIdentity& identity,
                              IndexBuilder& builder) {
  WindowIndex index = builder.snapshot();
  std::string blocks;
  for (size_t i = 0; i < index.lanes.size(); ++i) {
    put_levels(builder.lane(i), index.lanes[i], blocks);
  }
  const std::string head = compress(encode_head(identity, index));
  if (head.empty()) return {base::Code::LimitReached, "there is no memory to write it"};
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  // Several servers may index one folder: each writes a file of its own.
  std::string temporary = path.string() + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return failed(errno);
  const bool is_written =
      write_all(fd, prefix(head.size())) && write_all(fd, head) && write_all(fd, blocks);
  const int write_error = errno;
  const bool is_closed = ::close(fd) == 0;
  if (!is_written || !is_closed || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = is_written ? errno : write_error;
    ::unlink(temporary.c_str());
    return failed(reason);
  }
  return {};
}

base::Result<std::shared_ptr<const IndexFile>> IndexFile::open(const std::filesystem::path& path,
                                                               const WindowIdentity& identity) {
  OpenFile opened(path);
  const int fd = opened.fd();
  if (fd < 0) return failed(errno);
  const std::shared_ptr<IndexFile> file(new IndexFile());
  file->path_ = path;
  struct stat status{};
  std::string start(kPrefixBytes, '\0');
  if (::fstat(fd, &status) != 0 || !read_at(fd, 0, start.data(), start.size())) {
    return damaged("it is cut off");
  }
  file->bytes_ = static_cast<uint64_t>(status.st_size);
  file->inode_ = status.st_ino;
  if (!start.starts_with(kMagic)) return damaged("it is not an index");
  if (number_at(start, 8) != kIndexVersion) {
    return base::Status(base::Code::TooNew, "it is of another version");
  }
  const uint64_t head_bytes = number_at(start, 16);
  if (head_bytes > file->bytes_ - kPrefixBytes) return damaged("it is cut off");
  std::string head(head_bytes, '\0');
  if (!read_at(fd, kPrefixBytes, head.data(), head.size())) return damaged("it is cut off");
  const auto text = decompress(head, kMaxHeadBytes);
  if (!text) return damaged(text.status().message());
  const uint64_t blocks_at = kPrefixBytes + head_bytes;
  if (const auto read = decode_head(*text, identity, blocks_at, file->bytes_, file->index_);
      !read) {
    return damaged(read.message());
  }
  if (KeptDescriptors::take()) file->fd_ = opened.release();
  return std::shared_ptr<const IndexFile>(file);
}

IndexFile::~IndexFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  KeptDescriptors::give_back();
}

base::Result<std::vector<Bucket>> IndexFile::read(const BucketBlock& block) const {
  auto buckets = read_block(block);
  if (!buckets) is_damaged_ = true;
  return buckets;
}

void IndexFile::check() const {
  for (const IndexedLane& lane : index_.lanes) {
    for (const auto& level : lane.levels) {
      for (const BucketBlock& block : level) {
        if (!read(block)) return;
      }
    }
  }
}

base::Result<std::vector<Bucket>> IndexFile::read_block(const BucketBlock& block) const {
  std::optional<OpenFile> opened;
  int fd = fd_;
  if (fd < 0) {
    fd = opened.emplace(path_).fd();
    struct stat status{};
    if (fd < 0 || ::fstat(fd, &status) != 0 || status.st_ino != inode_) {
      return base::Status(base::Code::Unavailable, path_.string() + " was replaced; ask again");
    }
  }
  std::string bytes(block.bytes, '\0');
  if (!read_at(fd, block.offset, bytes.data(), bytes.size())) {
    return base::Status(base::Code::Corrupt, "an index that is cut off");
  }
  auto buckets = decode_buckets(bytes, block.buckets, block.first);
  if (buckets && !buckets->empty() && buckets->back().at != block.last) {
    return base::Status(base::Code::Corrupt, "an index whose buckets are not its own");
  }
  return buckets;
}

}  // namespace gpufl::index
