// SPDX-License-Identifier: Apache-2.0
#include "net/compression.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <vector>

namespace gpufl::net {
namespace {

constexpr int kGzipLevel = 5;
constexpr int kGzipWindow = 15 + 16;  // 16: with gzip's own head and tail
constexpr int kGzipMemory = 8;
constexpr int kZstdLevel = 3;
constexpr int kZstdWindow = 19;      // 512 KiB: memory, which each stream has for itself
constexpr int kMostZstdWindow = 23;  // 8 MiB, of what others compressed
constexpr size_t kStep = size_t{16} * 1024;

class Gzip : public Compressor {
 public:
  Gzip() {
    is_good_ = deflateInit2(&stream_, kGzipLevel, Z_DEFLATED, kGzipWindow, kGzipMemory,
                            Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~Gzip() override {
    if (is_good_) deflateEnd(&stream_);
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  bool is_good() const { return is_good_; }

  bool add(std::string_view text, bool is_last, std::string& out) override {
    std::array<char, kStep> made;
    do {
      // zlib counts input in 32 bits.
      const size_t taken = std::min(text.size(), size_t{1} << 30);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
      stream_.avail_in = static_cast<uInt>(taken);
      text.remove_prefix(taken);
      const int flush = !text.empty() ? Z_NO_FLUSH : is_last ? Z_FINISH : Z_SYNC_FLUSH;
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(made.data());
        stream_.avail_out = static_cast<uInt>(made.size());
        if (deflate(&stream_, flush) == Z_STREAM_ERROR) return false;
        out.append(made.data(), made.size() - stream_.avail_out);
      } while (stream_.avail_out == 0);
    } while (!text.empty());
    return true;
  }

 private:
  z_stream stream_{};
  bool is_good_ = false;
};

class Zstd : public Compressor {
 public:
  Zstd() : context_(ZSTD_createCCtx(), ZSTD_freeCCtx) {
    if (!context_) return;
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_windowLog, kZstdWindow);
  }

  bool is_good() const { return context_ != nullptr; }

  bool add(std::string_view text, bool is_last, std::string& out) override {
    std::array<char, kStep> made;
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    size_t left = 0;
    do {
      ZSTD_outBuffer step{made.data(), made.size(), 0};
      left = ZSTD_compressStream2(context_.get(), &step, &in, is_last ? ZSTD_e_end : ZSTD_e_flush);
      if (ZSTD_isError(left)) return false;
      out.append(made.data(), step.pos);
    } while (left != 0);
    return true;
  }

 private:
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
};

template <typename T>
std::unique_ptr<Compressor> made() {
  auto compressor = std::make_unique<T>();
  if (!compressor->is_good()) return nullptr;
  return compressor;
}

}  // namespace

std::unique_ptr<Compressor> make_compressor(Encoding encoding) {
  switch (encoding) {
    case Encoding::Gzip: return made<Gzip>();
    case Encoding::Zstd: return made<Zstd>();
    case Encoding::Identity: break;
  }
  return nullptr;
}

std::optional<std::string> gunzip(std::string_view compressed) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string text;
  std::array<char, kStep> made;
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(made.data());
    stream.avail_out = static_cast<uInt>(made.size());
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(made.data(), made.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END) return std::nullopt;
  return text;
}

std::optional<std::string> unpack_zstd(std::string_view compressed, size_t most_bytes) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                   &ZSTD_freeDCtx);
  if (context == nullptr) return std::nullopt;
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMostZstdWindow);
  std::string text;
  std::vector<char> made(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
  size_t left = 1;  // of a frame
  bool has_more = true;
  while (in.pos < in.size || (has_more && left != 0)) {
    ZSTD_outBuffer out{made.data(), made.size(), 0};
    left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left) != 0 || text.size() + out.pos > most_bytes) return std::nullopt;
    text.append(made.data(), out.pos);
    has_more = out.pos == out.size;
  }
  if (left != 0) return std::nullopt;
  return text;
}

bool is_compressible(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find_first_of("; "));
  // Events go out one by one, and a compressor would have to be kept for each client.
  if (type == "text/event-stream") return false;
  if (type.starts_with("text/") || type.ends_with("+json") || type.ends_with("+xml")) return true;
  constexpr std::array<std::string_view, 6> kOthers = {
      "application/json",     "application/javascript", "application/xml",
      "application/x-ndjson", "application/wasm",       "application/openmetrics-text",
  };
  return std::find(kOthers.begin(), kOthers.end(), type) != kOthers.end();
}

}  // namespace gpufl::net
