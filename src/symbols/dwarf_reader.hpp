// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "symbols/address.hpp"

// Reads the pieces that unwind tables are made of, from mapped memory and never past its end:
// after the first read that would be, is_ok() is false and everything is zero.
namespace gpufl::symbols {

inline constexpr uint8_t kPointerFormatMask = 0x0f;

class DwarfReader {
 public:
  DwarfReader() = default;
  DwarfReader(uintptr_t begin, uintptr_t end) : at_(begin), end_(end), ok_(begin <= end) {}

  bool is_ok() const { return ok_; }
  bool is_at_end() const { return at_ == end_; }
  uintptr_t position() const { return at_; }

  uint8_t u8() { return fixed<uint8_t>(); }
  uint16_t u16() { return fixed<uint16_t>(); }
  uint32_t u32() { return fixed<uint32_t>(); }

  uint64_t uleb() {
    int shift = 0;
    return leb(shift);
  }
  int64_t sleb() {
    int shift = 0;
    uint64_t value = leb(shift);
    if (shift < 64 && (value >> (shift - 1) & 1) != 0) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }

  // Null when it does not end here.
  const char* c_string() {
    const auto* text = at_address(at_);
    const void* zero = ok_ ? std::memchr(text, 0, end_ - at_) : nullptr;
    if (zero == nullptr) {
      fail();
      return nullptr;
    }
    at_ = reinterpret_cast<uintptr_t>(zero) + 1;
    return text;
  }

  // A pointer in one of the encodings of .eh_frame; `data_base` is what data-relative ones add.
  // Indirect ones (of personality routines) are passed over, not followed.
  uintptr_t encoded(uint8_t encoding, uintptr_t data_base) {
    constexpr uint8_t kOmitted = 0xff, kPcRelative = 0x10, kDataRelative = 0x30;
    if (encoding == kOmitted) return 0;
    const uintptr_t here = at_;
    uintptr_t value = 0;
    switch (encoding & kPointerFormatMask) {
      case 0x00:
      case 0x04:
      case 0x0c: value = fixed<uint64_t>(); break;
      case 0x01: value = uleb(); break;
      case 0x02: value = fixed<uint16_t>(); break;
      case 0x03: value = fixed<uint32_t>(); break;
      case 0x09: value = static_cast<uintptr_t>(sleb()); break;
      case 0x0a: value = static_cast<uintptr_t>(intptr_t{fixed<int16_t>()}); break;
      case 0x0b: value = static_cast<uintptr_t>(intptr_t{fixed<int32_t>()}); break;
      default: fail(); return 0;
    }
    switch (encoding & 0x70) {
      case 0: return value;
      case kPcRelative: return here + value;
      case kDataRelative: return data_base + value;
      default: fail(); return 0;
    }
  }

  // The next `size` bytes, as a reader of their own; this one goes on behind them.
  DwarfReader take(uint64_t size) {
    if (!ok_ || size > end_ - at_) {
      fail();
      return *this;
    }
    DwarfReader part(at_, at_ + size);
    at_ += size;
    return part;
  }

 private:
  template <typename T>
  T fixed() {
    T value{};
    if (!ok_ || end_ - at_ < sizeof(T)) {
      fail();
      return value;
    }
    std::memcpy(&value, at_address(at_), sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  // `shift` becomes the number of bits read, 64 at most.
  uint64_t leb(int& shift) {
    uint64_t value = 0;
    for (;;) {
      const uint8_t byte = u8();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift = shift < 64 ? shift + 7 : 64;
      if ((byte & 0x80) == 0) return value;
    }
  }

  void fail() {
    ok_ = false;
    at_ = end_;
  }

  uintptr_t at_ = 0, end_ = 0;
  bool ok_ = true;
};

}  // namespace gpufl::symbols
