// SPDX-License-Identifier: Apache-2.0
#include "format/frame_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>

// For ZSTD_c_literalCompressionMode, without which the fastest search leaves literals as they are,
// and for memory that goes back to the system.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

namespace gpufl::format {
namespace {

constexpr size_t kTextFrameBytes = size_t{512} << 10;
constexpr size_t kWriteBytes = size_t{128} << 10;
constexpr size_t kMinNoiseBytes = 1024;  // shorter lists are not worth a frame
constexpr size_t kMinTextBytes = 64;     // shorter text joins the noise that follows it
constexpr int kTextLevel = 1;

using Context = std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)>;

// zstd does not say how much it gives back: it stands in front.
struct alignas(64) Block {
  size_t bytes;
};
using Blocks = base::PageAllocator<std::byte>;

void* allocate(void*, size_t bytes) noexcept {
  try {
    bytes += sizeof(Block);
    return new (Blocks().allocate(bytes)) Block{bytes} + 1;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void release(void*, void* data) noexcept {
  if (data == nullptr) return;
  Block* const block = static_cast<Block*>(data) - 1;
  Blocks().deallocate(reinterpret_cast<std::byte*>(block), block->bytes);
}

Context make_context() {
  return {ZSTD_createCCtx_advanced({&allocate, &release, nullptr}), &ZSTD_freeCCtx};
}

// The list of residuals, or of rows off the grid, at or after `from`: where its first digit and
// its closing bracket stand. Only a guess by the key's looks, which is all that a cut needs.
struct Cut {
  size_t begin = std::string_view::npos;
  size_t end = 0;
};

bool is_noise_key(std::string_view before) {
  return before.ends_with("\"z\":") || before.ends_with("\"up\":") || before.ends_with("\"down\":");
}

Cut find_noise(std::string_view text, size_t from) {
  while (true) {
    const size_t open = text.find('[', from);
    if (open == std::string_view::npos) return {};
    const size_t close = text.find(']', open);
    if (close == std::string_view::npos) return {};
    if (close - open > kMinNoiseBytes && is_noise_key(text.substr(0, open))) {
      return {open + 1, close};
    }
    from = close + 1;
  }
}

}  // namespace

struct FrameWriter::Contexts {
  Context text = make_context();
  Context noise = make_context();
};

FrameWriter::FrameWriter() : contexts_(std::make_unique<Contexts>()) {
  ZSTD_CCtx* const text = contexts_->text.get();
  ZSTD_CCtx* const noise = contexts_->noise.get();
  if (text == nullptr || noise == nullptr) {
    status_ = {base::Code::LimitReached, "no memory for compression"};
    return;
  }
  for (ZSTD_CCtx* context : {text, noise}) ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(text, ZSTD_c_compressionLevel, kTextLevel);
  // A search with the longest strides and the smallest table finds nothing, and takes no time.
  ZSTD_CCtx_setParameter(noise, ZSTD_c_strategy, ZSTD_fast);
  ZSTD_CCtx_setParameter(noise, ZSTD_c_targetLength, ZSTD_TARGETLENGTH_MAX);
  ZSTD_CCtx_setParameter(noise, ZSTD_c_minMatch, 7);
  ZSTD_CCtx_setParameter(noise, ZSTD_c_hashLog, ZSTD_HASHLOG_MIN);
  ZSTD_CCtx_setParameter(noise, ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
}

FrameWriter::~FrameWriter() {
  if (fd_ >= 0) ::close(fd_);
}

base::Status FrameWriter::open(const std::filesystem::path& path) {
  if (!status_) return status_;
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) return base::Status::from_errno(errno, path.string());
  return {};
}

void FrameWriter::add(std::string_view text) {
  raw_bytes_ += text.size();
  size_t done = 0;
  for (Cut cut = find_noise(text, 0); cut.begin != std::string_view::npos;
       cut = find_noise(text, cut.end)) {
    text_.append(text.substr(done, cut.begin - done));
    done = cut.end;
    if (text_.size() >= kMinTextBytes) flush_text();
    const std::string_view noise = text.substr(cut.begin, cut.end - cut.begin);
    if (text_.empty()) {
      add_frame(noise, Nature::Noise);
    } else {
      text_.append(noise);
      add_frame(text_, Nature::Noise);
      text_.clear();
    }
  }
  text_.append(text.substr(done));
  if (text_.size() >= kTextFrameBytes) flush_text();
}

void FrameWriter::flush_text() {
  if (!text_.empty()) add_frame(text_, Nature::Text);
  text_.clear();
}

void FrameWriter::add_frame(std::string_view text, Nature nature) {
  if (!status_) return;
  ZSTD_CCtx* const context = (nature == Nature::Text ? contexts_->text : contexts_->noise).get();
  const size_t bound = ZSTD_compressBound(text.size());
  if (frames_.size() < frames_size_ + bound) frames_.resize(frames_size_ + bound);
  const size_t size =
      ZSTD_compress2(context, frames_.data() + frames_size_, bound, text.data(), text.size());
  if (ZSTD_isError(size) != 0) {
    status_ = {base::Code::Internal, std::string("zstd: ") + ZSTD_getErrorName(size)};
    return;
  }
  frames_size_ += size;
  if (frames_size_ >= kWriteBytes) write_out();
}

void FrameWriter::write_out() {
  const char* at = frames_.data();
  size_t left = frames_size_;
  hash_.update(at, left);
  sealed_bytes_ += left;
  while (left != 0 && status_) {
    const ssize_t written = ::write(fd_, at, left);
    if (written < 0) {
      if (errno == EINTR) continue;
      status_ = base::Status::from_errno(errno, "writing a sealed window");
      return;
    }
    at += written;
    left -= static_cast<size_t>(written);
  }
  frames_size_ = 0;
}

base::Status FrameWriter::finish() {
  flush_text();
  write_out();
  if (status_ && ::fsync(fd_) != 0) {
    status_ = base::Status::from_errno(errno, "syncing a sealed window");
  }
  if (::close(fd_) != 0 && status_) {
    status_ = base::Status::from_errno(errno, "closing a sealed window");
  }
  fd_ = -1;
  return status_;
}

}  // namespace gpufl::format
