// SPDX-License-Identifier: Apache-2.0
#include "format/module_files.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "base/hash.hpp"
#include "format/limits.hpp"

namespace gpufl::format {
namespace {

using base::Status;

constexpr std::string_view kSuffix = ".cubin.zst";
constexpr size_t kHashDigits = 16;
// Images are written beside a program that works: twice the time of level 1 for a tenth less.
constexpr int kLevel = 3;

std::string digits(uint64_t hash) { return base::xxh64_text(hash).substr(6); }

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  bool write(const char* data, size_t size) const {
    while (size > 0) {
      const ssize_t written = ::write(fd_, data, size);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      data += written;
      size -= static_cast<size_t>(written);
    }
    return true;
  }
  ssize_t read(void* data, size_t size) const {
    ssize_t got = 0;
    do {
      got = ::read(fd_, data, size);
    } while (got < 0 && errno == EINTR);
    return got;
  }
  bool sync() const { return ::fsync(fd_) == 0; }

 private:
  const int fd_;
};

Status no_memory() { return {base::Code::LimitReached, "no memory for compression"}; }

// Errno is the disk's word.
base::Result<uint64_t> compress_to(const File& file, std::string_view image) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  if (context == nullptr) return no_memory();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setPledgedSrcSize(context.get(), image.size());
  std::vector<char> piece(ZSTD_CStreamOutSize());
  ZSTD_inBuffer in{image.data(), image.size(), 0};
  uint64_t bytes = 0;
  size_t left = 0;
  do {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    left = ZSTD_compressStream2(context.get(), &out, &in, ZSTD_e_end);
    if (ZSTD_isError(left) != 0) return no_memory();
    if (!file.write(piece.data(), out.pos)) return Status::from_errno(errno, "writing a module");
    bytes += out.pos;
  } while (left != 0);
  if (!file.sync()) return Status::from_errno(errno, "syncing a module");
  return bytes;
}

// Hands over what is inside, piece by piece.
Status unpack_file(const std::filesystem::path& path,
                   const std::function<void(std::string_view)>& take) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return Status::from_errno(errno, path.string());
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  if (context == nullptr) return no_memory();
  std::vector<char> packed(ZSTD_DStreamInSize()), piece(ZSTD_DStreamOutSize());
  uint64_t total = 0;
  size_t left = 1;  // of the frame
  ssize_t got = 0;
  while ((got = file.read(packed.data(), packed.size())) > 0) {
    ZSTD_inBuffer in{packed.data(), static_cast<size_t>(got), 0};
    bool has_more = true;
    while (in.pos < in.size || has_more) {
      ZSTD_outBuffer out{piece.data(), piece.size(), 0};
      left = ZSTD_decompressStream(context.get(), &out, &in);
      total += out.pos;
      if (ZSTD_isError(left) != 0 || total > kMaxModuleBytes) {
        return {base::Code::Corrupt, path.string() + " cannot be decompressed"};
      }
      take({piece.data(), out.pos});
      has_more = out.pos == out.size;
    }
  }
  if (got < 0) return Status::from_errno(errno, path.string());
  if (left != 0) return {base::Code::Corrupt, path.string() + " ends early"};
  return {};
}

Status check_hash(const std::filesystem::path& path, std::string_view expected, uint64_t hash) {
  if (digits(hash) == expected) return {};
  return {base::Code::Corrupt, path.string() + ": what is inside is not what its name says"};
}

}  // namespace

std::string module_hash(std::string_view image) {
  return digits(base::xxh64(image.data(), image.size()));
}

std::string module_file_name(std::string_view hash) { return std::string(hash).append(kSuffix); }

std::string_view module_hash_of(std::string_view file_name) {
  if (file_name.size() != kHashDigits + kSuffix.size() || !file_name.ends_with(kSuffix)) return {};
  const std::string_view hash = file_name.substr(0, kHashDigits);
  const bool is_hash = hash.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_hash ? hash : std::string_view();
}

base::Result<uint64_t> write_module(const std::filesystem::path& file, std::string_view image) {
  std::filesystem::path temporary = file;
  temporary += ".tmp";
  base::Result<uint64_t> written = [&]() -> base::Result<uint64_t> {
    const File out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!out.is_open()) return Status::from_errno(errno, temporary.string());
    return compress_to(out, image);
  }();
  if (written && std::rename(temporary.c_str(), file.c_str()) != 0) {
    written = Status::from_errno(errno, file.string());
  }
  if (!written) ::unlink(temporary.c_str());
  return written;
}

base::Result<std::string> read_module(const std::filesystem::path& session_dir,
                                      std::string_view hash) {
  const std::filesystem::path path = session_dir / kModuleFolder / module_file_name(hash);
  std::string image;
  Status status = unpack_file(path, [&](std::string_view piece) { image.append(piece); });
  if (status) status = check_hash(path, hash, base::xxh64(image.data(), image.size()));
  if (!status) return status;
  return image;
}

Status check_module(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return check_module(file, module_hash_of(name));
}

Status check_module(const std::filesystem::path& file, std::string_view hash) {
  base::Xxh64 found;
  const Status status =
      unpack_file(file, [&](std::string_view piece) { found.update(piece.data(), piece.size()); });
  return status ? check_hash(file, hash, found.digest()) : status;
}

FrameUnpacker::FrameUnpacker()
    : context_(ZSTD_createDCtx(), [](ZSTD_DCtx* context) { ZSTD_freeDCtx(context); }) {}

bool FrameUnpacker::unpack(std::string_view frame, size_t size, std::string& out) {
  if (context_ == nullptr) return false;
  if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != size) return false;
  out.resize(size);
  return ZSTD_decompressDCtx(context_.get(), out.data(), size, frame.data(), frame.size()) == size;
}

}  // namespace gpufl::format
