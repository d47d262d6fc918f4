// SPDX-License-Identifier: Apache-2.0
#include "import/text_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace gpufl::importing {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr size_t kFileBytes = size_t{256} << 10;  // read at once

// The buffer that all sources share: a piece is appended, what was consumed is cut off before that.
class BufferedSource : public TextSource {
 public:
  std::string_view text() const override { return {buffer_.data() + begin_, end_ - begin_}; }
  void consume(size_t bytes) override { begin_ += bytes; }
  bool read_more() override {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (buffer_.size() < end_ + piece_bytes_) {
      buffer_.resize(std::max(end_ + piece_bytes_, buffer_.size() * 2));
    }
    const size_t got = fill(buffer_.data() + end_, piece_bytes_);
    end_ += got;
    return got > 0;
  }
  const base::Status& status() const override { return status_; }
  uint64_t bytes_read() const override { return bytes_read_; }
  uint64_t bytes_total() const override { return bytes_total_; }

 protected:
  explicit BufferedSource(size_t piece_bytes) : piece_bytes_(piece_bytes) {}
  // Up to `size` bytes; 0 at the end or when status_ says why not.
  virtual size_t fill(char* to, size_t size) = 0;

  base::Status status_;
  uint64_t bytes_read_ = 0, bytes_total_ = 0;

 private:
  const size_t piece_bytes_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
};

class MemorySource final : public BufferedSource {
 public:
  MemorySource(std::string_view text, size_t piece_bytes)
      : BufferedSource(piece_bytes), rest_(text) {
    bytes_total_ = text.size();
  }

 private:
  size_t fill(char* to, size_t size) override {
    const size_t taken = rest_.copy(to, size);
    rest_.remove_prefix(taken);
    bytes_read_ += taken;
    return taken;
  }
  std::string_view rest_;
};

class FileSource final : public BufferedSource {
 public:
  FileSource(int fd, std::string name, uint64_t size)
      : BufferedSource(kPieceBytes), fd_(fd), name_(std::move(name)) {
    bytes_total_ = size;
    input_size_ = read_file(input_.data(), input_.size());
    // RFC 1952: two bytes of magic.
    const bool is_gzip = input_size_ >= 2 && input_[0] == '\x1f' && input_[1] == '\x8b';
    if (is_gzip) {
      inflater_.emplace();
      constexpr int kGzipOnly = 16 + MAX_WBITS;
      if (inflateInit2(&*inflater_, kGzipOnly) != Z_OK) {
        status_ = {base::Code::LimitReached, "out of memory"};
      }
    }
  }
  ~FileSource() override {
    if (inflater_) inflateEnd(&*inflater_);
    close(fd_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

 private:
  size_t read_file(char* to, size_t size) {
    ssize_t got = 0;
    do {
      got = read(fd_, to, size);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      status_ = base::Status::from_errno(errno, name_);
      return 0;
    }
    bytes_read_ += static_cast<uint64_t>(got);
    return static_cast<size_t>(got);
  }

  size_t fill(char* to, size_t size) override {
    if (inflater_) return inflate_some(to, size);
    if (input_at_ < input_size_) {
      const size_t taken = std::min(size, input_size_ - input_at_);
      std::memcpy(to, input_.data() + input_at_, taken);
      input_at_ += taken;
      return taken;
    }
    return status_ ? read_file(to, size) : 0;
  }

  size_t inflate_some(char* to, size_t size) {
    inflater_->next_out = reinterpret_cast<Bytef*>(to);
    inflater_->avail_out = static_cast<uInt>(size);
    while (status_.is_ok() && inflater_->avail_out == size) {
      if (input_at_ == input_size_) {
        input_at_ = 0;
        input_size_ = read_file(input_.data(), input_.size());
        if (input_size_ == 0) {
          if (status_.is_ok() && is_inside_) {
            status_ = {base::Code::Corrupt, "the gzip file is cut off"};
          }
          break;
        }
      }
      // Several members in a row are one text; bytes that are no member end it.
      if (!is_inside_ && members_ > 0 && inflateReset(&*inflater_) != Z_OK) break;
      is_inside_ = true;
      inflater_->next_in = reinterpret_cast<Bytef*>(input_.data() + input_at_);
      inflater_->avail_in = static_cast<uInt>(input_size_ - input_at_);
      const int code = inflate(&*inflater_, Z_NO_FLUSH);
      input_at_ = input_size_ - inflater_->avail_in;
      if (code == Z_STREAM_END) {
        is_inside_ = false;
        ++members_;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        status_ = {base::Code::Corrupt, "the gzip file is damaged"};
      }
    }
    return size - inflater_->avail_out;
  }

  const int fd_;
  const std::string name_;
  std::array<char, kFileBytes> input_;
  size_t input_at_ = 0, input_size_ = 0;
  std::optional<z_stream> inflater_;
  bool is_inside_ = false;  // of a member
  uint64_t members_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<TextSource>> TextSource::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return base::Status::from_errno(errno, path.string());
  struct stat facts{};
  const bool is_file = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
  auto source = std::make_unique<FileSource>(fd, path.string(),
                                             is_file ? static_cast<uint64_t>(facts.st_size) : 0);
  if (!source->status()) return source->status();
  return std::unique_ptr<TextSource>(std::move(source));
}

std::unique_ptr<TextSource> TextSource::of(std::string_view text, size_t piece_bytes) {
  return std::make_unique<MemorySource>(text, piece_bytes);
}

}  // namespace gpufl::importing
