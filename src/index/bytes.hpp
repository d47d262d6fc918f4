// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

// Numbers and texts as bytes, and back: what index files are made of. Numbers take as many bytes as
// they need. The reader trusts nothing: after the first mistake every answer is 0 and failed() is
// true. One thread.
namespace gpufl::index {

class ByteWriter {
 public:
  void put(uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_.push_back(static_cast<char>(number | 0x80));
    bytes_.push_back(static_cast<char>(number));
  }
  void put_signed(int64_t number) {
    put((static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63));
  }
  void put_text(std::string_view text) {
    put(text.size());
    bytes_.append(text);
  }
  void put_number(double number) {
    put_raw({reinterpret_cast<const char*>(&number), sizeof number});
  }
  void put_byte(uint8_t byte) { bytes_.push_back(static_cast<char>(byte)); }
  void put_raw(std::string_view bytes) { bytes_.append(bytes); }

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }
  void clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  uint64_t get() {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) return fail();
      const auto byte = static_cast<uint8_t>(*at_++);
      number |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    return fail();
  }
  int64_t get_signed() {
    const uint64_t number = get();
    return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
  }
  // At most `limit`, so that nobody allocates what a damaged file asks for.
  uint64_t get_count(uint64_t limit) {
    const uint64_t count = get();
    return count <= limit ? count : fail();
  }
  // A number of things that take at least so many bytes each.
  uint64_t get_count_of(size_t bytes) { return get_count(left() / bytes); }
  std::string_view get_text() { return get_raw(get_count_of(1)); }
  double get_number() {
    double number = 0;
    const std::string_view raw = get_raw(sizeof number);
    if (!failed_) std::memcpy(&number, raw.data(), sizeof number);
    if (!std::isfinite(number)) fail();
    return failed_ ? 0 : number;
  }
  uint8_t get_byte() {
    if (at_ == end_) return static_cast<uint8_t>(fail());
    return static_cast<uint8_t>(*at_++);
  }
  std::string_view get_raw(size_t size) {
    if (size > left()) {
      fail();
      return {};
    }
    const std::string_view raw(at_, size);
    at_ += size;
    return raw;
  }

  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool failed() const { return failed_; }
  uint64_t fail() {
    failed_ = true;
    at_ = end_;
    return 0;
  }

 private:
  const char* at_;
  const char* end_;
  bool failed_ = false;
};

}  // namespace gpufl::index
