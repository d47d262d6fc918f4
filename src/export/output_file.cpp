// SPDX-License-Identifier: Apache-2.0
#include "export/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace gpufl::exporting {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr mode_t kMode = 0666;  // and the user's umask
// Half of zlib's default effort: traces compress almost as well and three times as fast.
constexpr int kGzipLevel = 5;
constexpr int kGzipWindowBits = 15 + 16;  // zlib's way to ask for a gzip header
constexpr int kGzipMemory = 8;

fs::path partial_name(const fs::path& path) {
  return path.parent_path() /
         ("." + path.filename().string() + "." + std::to_string(getpid()) + ".partial");
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// The file descriptor of this process that the path is a name of, such as /dev/stdout.
std::optional<int> descriptor_named(const fs::path& path) {
  if (path == kStandardOutput || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  const std::string folder = path.parent_path().string();
  if (folder != "/dev/fd" && folder != "/proc/self/fd") return std::nullopt;
  const std::string name = path.filename().string();
  int fd = -1;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), fd);
  if (error != std::errc() || stop != name.data() + name.size() || fd < 0) return std::nullopt;
  return fd;
}

// Where links lead: a file, there or not, or the name of a descriptor.
base::Result<fs::path> end_of_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  for (int links = 0; links <= kMostLinks; ++links) {
    std::error_code error;
    if (descriptor_named(path) || !fs::is_symlink(path, error)) return path;
    const fs::path target = fs::read_symlink(path, error);
    if (error) return base::Status::from_errno(error.value(), path.string());
    path = folder_of(path) / target;  // which is `target` where that begins with /
  }
  return base::Status::from_errno(ELOOP, path.string());
}

}  // namespace

struct OutputFile::Compressor {
  z_stream stream{};
  std::vector<char> out = std::vector<char>(kBufferBytes);
  ~Compressor() { deflateEnd(&stream); }
};

OutputFile::OutputFile(fs::path path, fs::path target)
    : path_(std::move(path)), target_(std::move(target)), buffer_(kBufferBytes) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      partial_(std::exchange(other.partial_, {})),
      fd_(std::exchange(other.fd_, -1)),
      is_direct_(other.is_direct_),
      buffer_(std::move(other.buffer_)),
      used_(other.used_),
      bytes_(other.bytes_),
      failure_(std::move(other.failure_)),
      compressor_(std::move(other.compressor_)) {}

OutputFile::~OutputFile() { discard(); }

base::Result<OutputFile> OutputFile::open(const fs::path& path, const Options& options) {
  const auto target = end_of_links(path);
  if (!target) return target.status();
  const std::optional<int> descriptor = descriptor_named(*target);
  std::error_code error;
  const fs::file_status there =
      descriptor ? fs::file_status(fs::file_type::fifo) : fs::status(*target, error);
  if (fs::is_directory(there)) {
    return base::Status(base::Code::InvalidArgument, path.string() + " is a folder");
  }
  if (fs::is_regular_file(there) && !options.overwrite) {
    return base::Status(base::Code::InvalidArgument,
                        path.string() + " already exists; --force replaces it");
  }
  OutputFile file(path, *target);
  file.is_direct_ = fs::exists(there) && !fs::is_regular_file(there);
  base::Status created = descriptor ? file.use_descriptor(*descriptor) : file.create();
  if (!created) return created;
  if (options.compress) {
    file.compressor_ = std::make_unique<Compressor>();
    if (deflateInit2(&file.compressor_->stream, kGzipLevel, Z_DEFLATED, kGzipWindowBits,
                     kGzipMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
      return base::Status(base::Code::LimitReached, "no memory to compress " + path.string());
    }
  }
  return file;
}

base::Status OutputFile::use_descriptor(int fd) {
  fd_ = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return fd_ >= 0 ? base::Status::ok() : base::Status::from_errno(errno, path_.string());
}

base::Status OutputFile::create() {
  if (is_direct_) {
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    // Without a name it is gone even when we are killed. Not every file system can.
    fd_ = ::open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kMode);
    if (fd_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
      fd_ = ::open(partial_name(target_).c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, kMode);
      if (fd_ >= 0) partial_ = partial_name(target_);
    }
  }
  if (fd_ >= 0) return base::Status::ok();
  return base::Status::from_errno(errno, path_.string());
}

void OutputFile::write_long(std::string_view text) {
  flush();
  if (text.size() <= buffer_.size()) return write(text);
  compressor_ ? compress(text, false) : put(text);
}

void OutputFile::flush() {
  const std::string_view text(buffer_.data(), used_);
  used_ = 0;
  compressor_ ? compress(text, false) : put(text);
}

void OutputFile::compress(std::string_view text, bool is_last) {
  z_stream& stream = compressor_->stream;
  std::vector<char>& out = compressor_->out;
  // zlib does not write to what it reads, and counts in 32 bits.
  constexpr size_t kPiece = size_t{1} << 30;
  do {
    const std::string_view piece = text.substr(0, kPiece);
    text.remove_prefix(piece.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));  // NOLINT
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());  // NOLINT
      stream.avail_out = static_cast<uInt>(out.size());
      deflate(&stream, is_last && text.empty() ? Z_FINISH : Z_NO_FLUSH);
      put({out.data(), out.size() - stream.avail_out});
    } while (stream.avail_out == 0);
  } while (!text.empty());
}

void OutputFile::put(std::string_view bytes) {
  while (!bytes.empty() && failure_.is_ok()) {
    const ssize_t taken = ::write(fd_, bytes.data(), bytes.size());
    if (taken < 0) {
      if (errno != EINTR) fail(errno);
      continue;
    }
    bytes.remove_prefix(static_cast<size_t>(taken));
    bytes_ += static_cast<uint64_t>(taken);
  }
}

void OutputFile::fail(int error_number) {
  if (failure_.is_ok()) failure_ = base::Status::from_errno(error_number, path_.string());
}

base::Status OutputFile::commit() {
  flush();
  if (compressor_) compress({}, true);
  if (!is_direct_ && failure_.is_ok() && partial_.empty()) {
    const fs::path partial = partial_name(target_);
    const std::string open_file = "/proc/self/fd/" + std::to_string(fd_);
    ::unlink(partial.c_str());
    if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, partial.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      partial_ = partial;
    } else {
      fail(errno);
    }
  }
  // Some file systems tell only here that the disk is full.
  if (::close(std::exchange(fd_, -1)) != 0) fail(errno);
  if (!is_direct_ && failure_.is_ok()) {
    if (::rename(partial_.c_str(), target_.c_str()) == 0) {
      partial_.clear();
    } else {
      fail(errno);
    }
  }
  discard();
  return failure_;
}

void OutputFile::discard() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  if (!partial_.empty()) ::unlink(partial_.c_str());
  partial_.clear();
}

void remove_unfinished(const fs::path& path) {
  const auto target = end_of_links(path);
  if (target && !descriptor_named(*target)) ::unlink(partial_name(*target).c_str());
}

}  // namespace gpufl::exporting
