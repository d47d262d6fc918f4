// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>

#include "base/page_allocator.hpp"
#include "format/seal.hpp"

namespace gpufl::format {
namespace {

constexpr size_t kReadBytes = size_t{256} << 10;
constexpr size_t kStepBytes = size_t{128} << 10;  // room for what one step brings

// Bytes in, lines out. Grows to the longest line, within the bound; skips lines beyond it.
class LineSplitter {
 public:
  LineSplitter(const PlacedLineVisitor& on_line, const LinePlace& from, size_t max_line_bytes,
               const std::function<bool(uint64_t)>& may_go_on, UnsealOutcome& outcome)
      : on_line_(on_line),
        may_go_on_(may_go_on),
        max_line_bytes_(max_line_bytes),
        outcome_(outcome),
        skip_(from.skip) {}

  // What is taken from now on stands at `offset` of the file, at the beginning of a frame.
  void begin_frame(uint64_t offset) {
    // Of frames without text the last one will do.
    if (!frames_.empty() && frames_.back().text == taken_) frames_.pop_back();
    frames_.push_back({offset, taken_});
  }
  // Nothing is compressed: reading can begin anywhere.
  void set_raw() { is_raw_ = true; }

  // Room for at least kStepBytes; null when there is no memory.
  char* room() {
    if (capacity_ - end_ < kStepBytes && begin_ != 0) {
      std::memmove(data_.get(), data_.get() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (capacity_ - end_ < kStepBytes) {
      const size_t wanted = std::max(2 * capacity_, end_ + 4 * kStepBytes);
      auto* grown = static_cast<char*>(base::map_pages(wanted));
      if (grown == nullptr) return nullptr;
      if (end_ != 0) std::memcpy(grown, data_.get(), end_);
      data_ = Data(grown, Unmap{wanted});
      capacity_ = wanted;
    }
    return data_.get() + end_;
  }
  size_t room_bytes() const { return capacity_ - end_; }

  // Takes `count` bytes that now stand in the room. False: the caller wants no more.
  bool take(size_t count) {
    taken_ += count;
    if (may_go_on_ && !may_go_on_(taken_)) return false;
    if (skip_ != 0) {
      const auto skipped = static_cast<size_t>(std::min<uint64_t>(skip_, count));
      std::memmove(data_.get() + end_, data_.get() + end_ + skipped, count - skipped);
      skip_ -= skipped;
      count -= skipped;
    }
    size_t searched = end_;
    end_ += count;
    while (true) {
      const auto* newline =
          static_cast<const char*>(std::memchr(data_.get() + searched, '\n', end_ - searched));
      if (newline == nullptr) break;
      const auto at = static_cast<size_t>(newline - data_.get());
      const std::string_view line(data_.get() + begin_, at - begin_);
      begin_ = searched = at + 1;
      if (is_oversized_ || line.size() > max_line_bytes_) {
        ++outcome_.oversized;
        is_oversized_ = false;
      } else {
        ++outcome_.lines;
        if (!on_line_(line, place_of(taken_ - (end_ - at) - line.size()))) return false;
      }
    }
    if (is_oversized_ || end_ - begin_ > max_line_bytes_) {
      is_oversized_ = true;
      begin_ = end_ = 0;
    } else if (begin_ == end_) {
      begin_ = end_ = 0;
    }
    return true;
  }

  void finish() {
    outcome_.end = place_of(taken_ - (end_ - begin_));
    outcome_.torn = is_oversized_ || begin_ != end_;
    if (is_oversized_) ++outcome_.oversized;
    if (begin_ != end_) outcome_.tail.assign(data_.get() + begin_, end_ - begin_);
  }

 private:
  struct Unmap {
    size_t bytes;
    void operator()(char* pages) const { munmap(pages, bytes); }
  };
  using Data = std::unique_ptr<char, Unmap>;
  struct Frame {
    uint64_t offset, text;  // in the file; how much text stands before it
  };

  // Of the line that begins after so much text. Lines come in order, so earlier frames can go.
  LinePlace place_of(uint64_t text) {
    while (frames_.size() > 1 && frames_[1].text <= text) frames_.pop_front();
    if (frames_.empty()) return {};
    const uint64_t skip = text - frames_.front().text;
    if (is_raw_) return {frames_.front().offset + skip, 0};
    return {frames_.front().offset, skip};
  }

  const PlacedLineVisitor& on_line_;
  const std::function<bool(uint64_t)>& may_go_on_;
  const size_t max_line_bytes_;
  UnsealOutcome& outcome_;
  uint64_t skip_;
  uint64_t taken_ = 0;        // text, what was skipped included
  std::deque<Frame> frames_;  // from the one on in which the next line begins
  Data data_;
  size_t capacity_ = 0, begin_ = 0, end_ = 0;
  bool is_oversized_ = false;
  bool is_raw_ = false;
};

class File {
 public:
  File(const std::filesystem::path& path, uint64_t from)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0 || (from != 0 && ::lseek(fd_, static_cast<off_t>(from), SEEK_SET) < 0)) {
      status_ = base::Status::from_errno(errno, path.string());
    }
  }
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Bytes read; 0 at the end and after a failure, which status() tells.
  size_t read(char* out, size_t size) {
    while (status_) {
      const ssize_t got = ::read(fd_, out, size);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) status_ = base::Status::from_errno(errno, path_.string());
    }
    return 0;
  }
  const base::Status& status() const { return status_; }

 private:
  const std::filesystem::path& path_;
  int fd_;
  base::Status status_;
};

bool is_compressed(std::string_view start) {
  uint32_t magic = 0;
  if (start.size() < sizeof magic) return false;
  std::memcpy(&magic, start.data(), sizeof magic);
  return magic == ZSTD_MAGICNUMBER ||
         (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

const base::Status kNoMemory = {base::Code::LimitReached, "no memory to read a window"};

base::Status read_raw(File& file, std::string_view start, uint64_t offset, LineSplitter& splitter) {
  splitter.begin_frame(offset);
  splitter.set_raw();
  while (!start.empty()) {
    char* const room = splitter.room();
    if (room == nullptr) return kNoMemory;
    const size_t count = std::min(start.size(), splitter.room_bytes());
    std::memcpy(room, start.data(), count);
    start.remove_prefix(count);
    if (!splitter.take(count)) return {};
  }
  while (true) {
    char* const room = splitter.room();
    if (room == nullptr) return kNoMemory;
    const size_t count = file.read(room, splitter.room_bytes());
    if (count == 0) return file.status();
    if (!splitter.take(count)) return {};
  }
}

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
using Context = std::unique_ptr<ZSTD_DCtx, FreeContext>;

// The decompressor of one window. A thread keeps it for the next one, because making it costs more
// than reading a small window; unless it has grown large.
class Decompressor {
 public:
  Decompressor() : context_(std::move(kept())) {
    if (context_ == nullptr) context_.reset(ZSTD_createDCtx());
  }
  ~Decompressor() {
    constexpr size_t kMaxKeptBytes = size_t{256} << 10;
    if (context_ == nullptr || ZSTD_sizeof_DCtx(context_.get()) > kMaxKeptBytes) return;
    ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
    kept() = std::move(context_);
  }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  ZSTD_DCtx* get() const { return context_.get(); }  // null when there is no memory

 private:
  static Context& kept() {
    thread_local Context context;
    return context;
  }
  Context context_;
};

base::Status read_compressed(File& file, char* chunk, size_t chunk_size, uint64_t offset,
                             LineSplitter& splitter) {
  const Decompressor context;
  if (context.get() == nullptr) return kNoMemory;
  bool inside_frame = false;
  for (; chunk_size != 0; offset += chunk_size, chunk_size = file.read(chunk, kReadBytes)) {
    ZSTD_inBuffer in{chunk, chunk_size, 0};
    bool room_was_full = false;
    while (in.pos < in.size || room_was_full) {
      ZSTD_outBuffer out{splitter.room(), 0, 0};
      if (out.dst == nullptr) return kNoMemory;
      out.size = splitter.room_bytes();
      if (!inside_frame) splitter.begin_frame(offset + in.pos);
      const size_t rest = ZSTD_decompressStream(context.get(), &out, &in);
      if (ZSTD_isError(rest) != 0) {
        return {base::Code::Corrupt,
                "at byte " + std::to_string(offset + in.pos) + ": " + ZSTD_getErrorName(rest)};
      }
      inside_frame = rest != 0;
      room_was_full = inside_frame && out.pos == out.size;
      if (!splitter.take(out.pos)) return {};
    }
  }
  if (!file.status()) return file.status();
  if (inside_frame) return {base::Code::Corrupt, "the file ends inside a frame"};
  return {};
}

}  // namespace

UnsealOutcome read_window(const std::filesystem::path& path,
                          const std::function<bool(std::string_view)>& on_line,
                          size_t max_line_bytes) {
  return read_placed_lines(
      path, {}, [&](std::string_view line, const LinePlace&) { return on_line(line); },
      max_line_bytes);
}

UnsealOutcome read_placed_lines(const std::filesystem::path& path, const LinePlace& from,
                                const PlacedLineVisitor& on_line, size_t max_line_bytes,
                                const std::function<bool(uint64_t)>& may_go_on) {
  UnsealOutcome outcome;
  File file(path, from.frame);
  base::PageVector<char> chunk(kReadBytes);
  const size_t first = file.read(chunk.data(), kReadBytes);
  LineSplitter splitter(on_line, from, max_line_bytes, may_go_on, outcome);
  const std::string_view start(chunk.data(), first);
  outcome.status = is_compressed(start)
                       ? read_compressed(file, chunk.data(), first, from.frame, splitter)
                       : read_raw(file, start, from.frame, splitter);
  splitter.finish();
  return outcome;
}

}  // namespace gpufl::format
