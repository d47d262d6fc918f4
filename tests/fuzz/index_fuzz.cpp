// SPDX-License-Identifier: Apache-2.0
// Bytes that claim to be parts of an index: its head, and a block of buckets. Whatever they are,
// reading them ends, within memory in proportion to them.
#include <cstdint>
#include <string>
#include <string_view>

#include "index/bucket_block.hpp"
#include "index/bytes.hpp"
#include "index/index_head.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpufl::index;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    // Of the window that is asked for, so that the rest is read as well.
    ByteWriter head;
    head.put_text("");
    head.put_text("");
    head.put(0);
    head.put(0);
    head.put_signed(0);
    head.put_text("");
    head.put_raw(bytes);
    WindowIndex index;
    if (decode_head(head.bytes(), {}, 100, 10'000, index)) {
      for (const IndexedLane& lane : index.lanes) {
        for (const auto& level : lane.levels) {
          for (const BucketBlock& block : level) {
            if (block.offset + block.bytes > 10'000) __builtin_trap();
          }
        }
      }
    }
  } else {
    const auto buckets = decode_buckets(compress(bytes), data[0], 5);
    if (buckets && buckets->size() != data[0]) __builtin_trap();
    (void)decode_buckets(bytes, data[0], 5);
  }
  return 0;
}
