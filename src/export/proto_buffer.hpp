// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

// Fields of one protobuf message as they lie in a file, appended one after another. Field numbers
// are the caller's. One thread; reuse one and clear() it, then it allocates nothing.
namespace gpufl::exporting {

class ProtoBuffer {
 public:
  static constexpr size_t kMaxVarint = 10;

  void clear() { size_ = 0; }
  size_t size() const { return size_; }
  std::string_view view() const { return {bytes_.data(), size_}; }

  void varint(uint32_t field, uint64_t value) {
    char* out = reserve(2 * kMaxVarint);
    out = put(out, uint64_t{field} << 3);
    finish(put(out, value));
  }
  void fixed64(uint32_t field, uint64_t value) {
    static_assert(std::endian::native == std::endian::little);
    char* out = put(reserve(kMaxVarint + sizeof value), (uint64_t{field} << 3) | kFixed64);
    std::memcpy(out, &value, sizeof value);
    finish(out + sizeof value);
  }
  void real(uint32_t field, double value) { fixed64(field, std::bit_cast<uint64_t>(value)); }
  // A string, bytes, or a message that was written elsewhere.
  void bytes(uint32_t field, std::string_view text) {
    char* out = put(reserve(2 * kMaxVarint + text.size()), (uint64_t{field} << 3) | kLength);
    out = put(out, text.size());
    std::memcpy(out, text.data(), text.size());
    finish(out + text.size());
  }
  void message(uint32_t field, const ProtoBuffer& inner) { bytes(field, inner.view()); }
  // Fields that were written elsewhere.
  void append(std::string_view fields) {
    std::memcpy(reserve(fields.size()), fields.data(), fields.size());
    size_ += fields.size();
  }

 private:
  static constexpr uint64_t kFixed64 = 1, kLength = 2;

  static char* put(char* out, uint64_t value) {
    while (value >= 0x80) {
      *out++ = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    *out++ = static_cast<char>(value);
    return out;
  }
  char* reserve(size_t more) {
    if (bytes_.size() - size_ < more) bytes_.resize(2 * (size_ + more));
    return bytes_.data() + size_;
  }
  void finish(const char* end) { size_ = static_cast<size_t>(end - bytes_.data()); }

  std::vector<char> bytes_ = std::vector<char>(256);
  size_t size_ = 0;
};

}  // namespace gpufl::exporting
