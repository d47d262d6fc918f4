// SPDX-License-Identifier: Apache-2.0
#include "format/line_scanner.hpp"

#include <emmintrin.h>

#include <bit>
#include <cctype>
#include <cstring>
#include <limits>
#include <type_traits>

namespace gpufl::format {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kBlock = 64;  // bytes looked at together

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// One bit per byte of a block.
struct BlockMasks {
  uint64_t digits = 0, zeros = 0, commas = 0;
};

inline BlockMasks classify(const char* block) {
  BlockMasks masks;
  const __m128i zero = _mm_set1_epi8('0');
  const __m128i nine = _mm_set1_epi8(9);
  const __m128i comma = _mm_set1_epi8(',');
  for (int i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * i));
    const __m128i above_zero = _mm_sub_epi8(bytes, zero);
    const auto bits = [&](__m128i matched) {
      return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(matched))) << (16 * i);
    };
    masks.digits |= bits(_mm_cmpeq_epi8(_mm_min_epu8(above_zero, nine), above_zero));
    masks.zeros |= bits(_mm_cmpeq_epi8(bytes, zero));
    masks.commas |= bits(_mm_cmpeq_epi8(bytes, comma));
  }
  return masks;
}

// Every value of the block is one digit.
constexpr uint64_t kSingleDigits = 0x5555555555555555;
inline void read_single_digits(const char* block, uint64_t* out) {
  const __m128i none = _mm_setzero_si128();
  for (int i = 0; i < 4; ++i, out += 8) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * i));
    const __m128i digits = _mm_and_si128(bytes, _mm_set1_epi16(0x0F));
    const __m128i low = _mm_unpacklo_epi16(digits, none);
    const __m128i high = _mm_unpackhi_epi16(digits, none);
    auto* const values = reinterpret_cast<__m128i*>(out);
    _mm_storeu_si128(values, _mm_unpacklo_epi32(low, none));
    _mm_storeu_si128(values + 1, _mm_unpackhi_epi32(low, none));
    _mm_storeu_si128(values + 2, _mm_unpacklo_epi32(high, none));
    _mm_storeu_si128(values + 3, _mm_unpackhi_epi32(high, none));
  }
}

// The value of `length` digits (1 to 8) that end right before `end`. Reads eight bytes.
inline uint64_t short_value(const char* end, unsigned length) {
  uint64_t word;
  std::memcpy(&word, end - 8, sizeof word);
  const unsigned foreign_bits = 64 - 8 * length;
  word = ((word ^ 0x3030303030303030) >> foreign_bits) << foreign_bits;
  word = word * 10 + (word >> 8);
  return ((word & 0x000000FF000000FF) * 0x000F424000000064 +
          ((word >> 16) & 0x000000FF000000FF) * 0x0000271000000001) >>
         32;
}

}  // namespace

std::string LineScanner::error() const {
  return "byte " + std::to_string(failed_at_) + ": " + (reason_ != nullptr ? reason_ : "no error");
}

bool LineScanner::fail(const char* reason) {
  if (reason_ == nullptr) {
    reason_ = reason;
    failed_at_ = offset();
  }
  at_ = end_;
  return false;
}

char LineScanner::peek() {
  while (at_ != end_ && is_space(*at_)) ++at_;
  return at_ != end_ ? *at_ : '\0';
}

bool LineScanner::accept(char c) {
  if (peek() != c || at_ == end_) return false;
  ++at_;
  return true;
}

bool LineScanner::expect(char c) {
  if (accept(c)) return true;
  switch (c) {
    case '{': return fail("an object is expected");
    case '[': return fail("a list is expected");
    case ':': return fail("a colon is missing");
    case '"': return fail("a string is expected");
    default: return fail("a comma or a closing bracket is missing");
  }
}

bool LineScanner::expect_end() {
  peek();
  return at_ == end_ || fail("text follows the end of the value");
}

bool LineScanner::read_string(std::string_view& out) {
  if (!expect('"')) return false;
  const char* const start = at_;
  while (at_ != end_) {
    const char c = *at_;
    if (c == '"') {
      out = {start, static_cast<size_t>(at_ - start)};
      ++at_;
      return true;
    }
    if (static_cast<unsigned char>(c) < 0x20) return fail("a control character in a string");
    if (c == '\\') {
      if (++at_ == end_) break;
      if (*at_ == 'u') {
        for (int i = 0; i < 4; ++i) {
          if (++at_ == end_ || std::isxdigit(static_cast<unsigned char>(*at_)) == 0) {
            return fail("a wrong escape in a string");
          }
        }
      } else if (*at_ == '\0' || std::strchr("\"\\/bfnrt", *at_) == nullptr) {
        return fail("a wrong escape in a string");
      }
    }
    ++at_;
  }
  return fail("a string without an end");
}

bool LineScanner::read_magnitude(uint64_t& out) {
  if (at_ == end_ || !is_digit(*at_)) return fail("a whole number is expected");
  if (*at_ == '0' && at_ + 1 != end_ && is_digit(at_[1])) {
    return fail("a number with a leading zero");
  }
  uint64_t value = 0;
  for (; at_ != end_ && is_digit(*at_); ++at_) {
    if (__builtin_mul_overflow(value, uint64_t{10}, &value) ||
        __builtin_add_overflow(value, static_cast<uint64_t>(*at_ - '0'), &value)) {
      return fail("a number that does not fit 64 bits");
    }
  }
  if (at_ != end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E')) {
    return fail("a whole number is expected");
  }
  out = value;
  return true;
}

bool LineScanner::read_integer(int64_t& out) {
  const bool negative = peek() == '-';
  if (negative) ++at_;
  uint64_t magnitude = 0;
  if (!read_magnitude(magnitude)) return false;
  const uint64_t limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + negative;
  if (magnitude > limit) return fail("a number that does not fit 64 bits");
  out = static_cast<int64_t>(negative ? uint64_t{0} - magnitude : magnitude);
  return true;
}

bool LineScanner::read_id64(int64_t& out) {
  if (!expect('"')) return false;
  uint64_t bits = 0;
  if (!read_magnitude(bits)) return false;
  if (at_ == end_ || *at_ != '"') return fail("a decimal string is expected");
  ++at_;
  out = static_cast<int64_t>(bits);
  return true;
}

template <typename T>
struct LineScanner::NumberReader {
  bool operator()(LineScanner& scanner, T& out) const {
    if constexpr (std::is_signed_v<T>) {
      return scanner.read_integer(out);
    } else {
      scanner.peek();
      return scanner.read_magnitude(out);
    }
  }
};

// Takes whole values of up to eight digits, each with its comma, for as long as the text is nothing
// but those; whatever else there is (the end, a minus sign, white space, a mistake) is left for the
// caller to read one by one. Works on blocks that begin with a value: all delimiters of a block are
// found at once, so the digits of one value need not wait for those of the one before.
size_t LineScanner::read_short_values(uint64_t* out, size_t limit) {
  size_t count = 0;
  const char* at = at_;
  while (static_cast<size_t>(end_ - at) >= kBlock && at - begin_ >= 8) {
    const BlockMasks masks = classify(at);
    constexpr size_t kValues = kBlock / 2;
    if (masks.digits == kSingleDigits && masks.commas == ~kSingleDigits &&
        limit - count >= kValues) {
      read_single_digits(at, out + count);
      count += kValues;
      at += kBlock;
      continue;
    }
    const uint64_t foreign = ~(masks.digits | masks.commas);
    uint64_t commas = foreign == 0 ? masks.commas : masks.commas & ((foreign & -foreign) - 1);
    if (commas == 0) break;
    const uint64_t inside = ~uint64_t{0} >> std::countl_zero(commas);
    const uint64_t starts = (masks.commas << 1) | 1;
    const uint64_t leading_zeros = masks.zeros & (masks.digits >> 1);
    if ((starts & (masks.commas | leading_zeros) & inside) != 0) break;

    unsigned start = 0;
    bool is_short = true;
    for (; commas != 0; commas &= commas - 1) {
      const auto comma = static_cast<unsigned>(std::countr_zero(commas));
      const unsigned length = comma - start;
      is_short = length <= 8 && count < limit;
      if (!is_short) break;
      out[count++] = short_value(at + comma, length);
      start = comma + 1;
    }
    at += start;
    if (!is_short) break;
  }
  at_ = at;
  return count;
}

template <typename T, typename ReadOne>
bool LineScanner::read_list(T* out, size_t limit, size_t& count, ReadOne read_one) {
  count = 0;
  if (!expect('[')) return false;
  if (accept(']')) return true;
  size_t done = 0;
  do {
    if constexpr (std::is_same_v<ReadOne, NumberReader<T>>) {
      // Signed and unsigned forms of a type may alias; short values are the same in both.
      done += read_short_values(reinterpret_cast<uint64_t*>(out) + done, limit - done);
    }
    if (done == limit) return fail("more values than rows");
    if (!read_one(*this, out[done])) return false;
    ++done;
  } while (accept(','));
  count = done;
  return expect(']');
}

bool LineScanner::read_unsigned_list(uint64_t* out, size_t limit, size_t& count) {
  return read_list(out, limit, count, NumberReader<uint64_t>());
}

bool LineScanner::read_integer_list(int64_t* out, size_t limit, size_t& count) {
  return read_list(out, limit, count, NumberReader<int64_t>());
}

bool LineScanner::read_id64_list(int64_t* out, size_t limit, size_t& count) {
  return read_list(out, limit, count,
                   [](LineScanner& scanner, int64_t& value) { return scanner.read_id64(value); });
}

bool LineScanner::skip_list() {
  if (!expect('[')) return false;
  const void* close = std::memchr(at_, ']', static_cast<size_t>(end_ - at_));
  if (close == nullptr) return fail("a list without an end");
  at_ = static_cast<const char*>(close) + 1;
  return true;
}

bool LineScanner::skip_word(std::string_view word) {
  if (std::string_view(at_, static_cast<size_t>(end_ - at_)).substr(0, word.size()) != word) {
    return fail("a value is expected");
  }
  at_ += word.size();
  return true;
}

bool LineScanner::skip_number() {
  const auto skip_digits = [this] {
    const char* const start = at_;
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return at_ != start;
  };
  if (*at_ == '-') ++at_;
  const bool leading_zero = at_ != end_ && *at_ == '0';
  const char* const start = at_;
  if (!skip_digits()) return fail("a value is expected");
  if (leading_zero && at_ - start > 1) return fail("a number with a leading zero");
  if (at_ != end_ && *at_ == '.') {
    ++at_;
    if (!skip_digits()) return fail("a number without digits after its point");
  }
  if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
    ++at_;
    if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    if (!skip_digits()) return fail("a number without digits in its exponent");
  }
  return true;
}

bool LineScanner::skip_value() {
  char closers[kMaxDepth];
  int depth = 0;
  std::string_view text;
  while (true) {
    const char c = peek();
    if (c == '{' || c == '[') {
      ++at_;
      const char closer = c == '{' ? '}' : ']';
      if (!accept(closer)) {
        if (depth == kMaxDepth) return fail("too many nested values");
        closers[depth++] = closer;
        if (closer == '}' && !(read_string(text) && expect(':'))) return false;
        continue;
      }
    } else if (c == '"') {
      if (!read_string(text)) return false;
    } else if (c == 't' || c == 'f' || c == 'n') {
      if (!skip_word(c == 't' ? "true" : c == 'f' ? "false" : "null")) return false;
    } else if (at_ == end_ || !skip_number()) {
      return fail("a value is expected");
    }
    // A value has ended: so may the ones around it.
    while (depth != 0 && accept(closers[depth - 1])) --depth;
    if (depth == 0) return true;
    if (!expect(',')) return false;
    if (closers[depth - 1] == '}' && !(read_string(text) && expect(':'))) return false;
  }
}

}  // namespace gpufl::format
