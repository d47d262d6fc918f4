// SPDX-License-Identifier: Apache-2.0
#include "server/tar_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "server/cache_folder.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using base::Status;

constexpr size_t kBlock = 512;
constexpr size_t kPieceBytes = size_t{128} << 10;
constexpr uint64_t kLargestOctal = uint64_t{1} << 33;

// Places and lengths of a header's fields.
constexpr size_t kMode = 100, kOwner = 108, kGroup = 116, kSize = 124, kTime = 136, kSum = 148,
                 kType = 156, kMagic = 257;
constexpr size_t kLongestName = 99, kSumLength = 8;

std::string header_of(const std::string& name, uint64_t bytes, int64_t time_s) {
  std::string header(kBlock, '\0');
  const auto put = [&](size_t at, std::string_view text) { header.replace(at, text.size(), text); };
  put(0, name);
  put(kMode, "0000644");
  put(kOwner, "0000000");
  put(kGroup, "0000000");
  if (bytes < kLargestOctal) {
    put(kSize, fmt::format("{:011o}", bytes));
  } else {
    // Numbers that do not fit are binary, marked by the highest bit of the field.
    std::string large(12, '\0');
    large[0] = static_cast<char>(0x80);
    for (size_t i = 0; i < 8; ++i) large[11 - i] = static_cast<char>((bytes >> (8 * i)) & 0xff);
    put(kSize, large);
  }
  put(kTime, fmt::format("{:011o}", std::max<int64_t>(time_s, 0)));
  put(kSum, std::string(kSumLength, ' '));
  put(kType, "0");
  put(kMagic, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(kSum, fmt::format("{:06o}", sum) + '\0');
  return header;
}

int copy(int from, int to, uint64_t bytes) {
  std::string piece(kPieceBytes, '\0');
  while (bytes > 0) {
    const ssize_t got = ::read(from, piece.data(), std::min<uint64_t>(bytes, piece.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EIO;
    const int error = write_all(to, std::string_view(piece).substr(0, static_cast<size_t>(got)));
    if (error != 0) return error;
    bytes -= static_cast<uint64_t>(got);
  }
  return 0;
}

int add_file(int to, const std::string& name, const fs::path& file) {
  const int from = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (from < 0) return errno;
  struct stat info{};
  int error = ::fstat(from, &info) == 0 ? 0 : errno;
  const auto bytes = static_cast<uint64_t>(info.st_size);
  if (error == 0) error = write_all(to, header_of(name, bytes, info.st_mtim.tv_sec));
  if (error == 0) error = copy(from, to, bytes);
  ::close(from);
  if (error == 0) error = write_all(to, std::string((kBlock - bytes % kBlock) % kBlock, '\0'));
  return error;
}

}  // namespace

std::string safe_file_name(std::string_view name, std::string_view ending) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  std::string safe(name.substr(0, kLongestFileName - std::min(ending.size(), kLongestFileName)));
  for (char& c : safe) {
    if (kPlain.find(c) == std::string_view::npos) c = '_';
  }
  // Neither hidden nor taken for an option.
  if (safe.empty() || safe.front() == '.' || safe.front() == '-') safe.insert(0, 1, '_');
  return safe.append(ending);
}

Status write_tar(int fd, const fs::path& folder, const std::vector<fs::path>& files) {
  for (const fs::path& file : files) {
    const std::string name = file.lexically_relative(folder).string();
    if (name.size() > kLongestName) {
      return {base::Code::LimitReached, name + " is too long a name for an archive"};
    }
    const int error = add_file(fd, name, file);
    if (error != 0) return Status::from_errno(error, name);
  }
  const int error = write_all(fd, std::string(2 * kBlock, '\0'));
  return error == 0 ? Status() : Status::from_errno(error, "the archive cannot be written");
}

}  // namespace gpufl::server
