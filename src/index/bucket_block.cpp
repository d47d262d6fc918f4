// SPDX-License-Identifier: Apache-2.0
#include "index/bucket_block.hpp"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "index/bytes.hpp"

namespace gpufl::index {
namespace {

constexpr int kLevel = 3;
constexpr size_t kMaxBlockBytes = kBucketsPerBlock * 40;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

ZSTD_CCtx* compressor() {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context = [] {
    std::unique_ptr<ZSTD_CCtx, FreeContext> made(ZSTD_createCCtx());
    if (made != nullptr) {
      ZSTD_CCtx_setParameter(made.get(), ZSTD_c_compressionLevel, kLevel);
      ZSTD_CCtx_setParameter(made.get(), ZSTD_c_checksumFlag, 1);
    }
    return made;
  }();
  return context.get();
}

ZSTD_DCtx* decompressor() {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  return context.get();
}

base::Status corrupt(const char* what) { return {base::Code::Corrupt, what}; }

// Byte by byte of all numbers: their low bytes are noise, their high ones are mostly alike.
void put_planes(std::span<const Bucket> buckets, ByteWriter& out) {
  uint64_t all = 0;
  for (const Bucket& bucket : buckets) all |= bucket.busy;
  const auto planes = static_cast<unsigned>((std::bit_width(all) + 7) / 8);
  out.put_byte(static_cast<uint8_t>(planes));
  for (unsigned plane = 0; plane < planes; ++plane) {
    for (const Bucket& bucket : buckets) {
      out.put_byte(static_cast<uint8_t>(bucket.busy >> (8 * plane)));
    }
  }
}

}  // namespace

std::string compress(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size =
      ZSTD_compress2(compressor(), out.data(), out.size(), bytes.data(), bytes.size());
  out.resize(ZSTD_isError(size) != 0 ? 0 : size);
  return out;
}

base::Result<std::string> decompress(std::string_view bytes, size_t limit) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > limit) {
    return corrupt("not a compressed part of an index");
  }
  std::string out(size, '\0');
  const size_t got =
      ZSTD_decompressDCtx(decompressor(), out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0 || got != out.size()) return corrupt("a damaged part of an index");
  return out;
}

void encode_buckets(std::span<const Bucket> buckets, std::string& out) {
  ByteWriter columns;
  int64_t before = buckets.front().at - 1;
  for (const Bucket& bucket : buckets) {
    columns.put(static_cast<uint64_t>(bucket.at - before - 1));
    before = bucket.at;
  }
  for (const Bucket& bucket : buckets) columns.put(bucket.count);
  for (const Bucket& bucket : buckets) columns.put(bucket.top);
  put_planes(buckets, columns);
  out += compress(columns.bytes());
}

base::Result<std::vector<Bucket>> decode_buckets(std::string_view bytes, size_t count,
                                                 int64_t first) {
  const auto text = decompress(bytes, kMaxBlockBytes);
  if (!text) return text.status();
  if (count > kBucketsPerBlock) return corrupt("too many buckets");
  std::vector<Bucket> buckets(count);
  ByteReader in(*text);
  auto at = static_cast<uint64_t>(first);
  for (Bucket& bucket : buckets) {
    at += in.get();
    bucket.at = static_cast<int64_t>(at++);
  }
  for (Bucket& bucket : buckets) bucket.count = in.get();
  for (Bucket& bucket : buckets) bucket.top = static_cast<uint32_t>(in.get());
  const unsigned planes = in.get_byte();
  if (planes > 8) return corrupt("too many planes");
  for (unsigned plane = 0; plane < planes; ++plane) {
    const std::string_view raw = in.get_raw(count);
    if (in.failed()) break;
    for (size_t i = 0; i < count; ++i) {
      buckets[i].busy |= static_cast<uint64_t>(static_cast<uint8_t>(raw[i])) << (8 * plane);
    }
  }
  if (in.failed() || in.left() != 0) return corrupt("buckets that are cut off");
  for (Bucket& bucket : buckets) bucket.top_busy = bucket.busy;
  return buckets;
}

}  // namespace gpufl::index
