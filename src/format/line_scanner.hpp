// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Reads one line of JSON from left to right without building a document: the reading half of
// integer columns. Trusts nothing: never looks outside the text, refuses numbers that do not fit.
// The first mistake is kept, with its place; every later call fails. No allocation but the output.
namespace gpufl::format {

class LineScanner {
 public:
  explicit LineScanner(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  bool failed() const { return reason_ != nullptr; }
  // "byte 17: a comma is missing". Only after a failure.
  std::string error() const;
  bool fail(const char* reason);

  size_t offset() const { return static_cast<size_t>(at_ - begin_); }
  void seek(size_t offset) { at_ = begin_ + offset; }

  // The next byte that is not white space; 0 at the end.
  char peek();
  bool accept(char c);  // takes it when it is next
  bool expect(char c);
  bool expect_end();  // nothing but white space is left

  // The text between the quotes, as it stands: escapes are checked, not resolved.
  bool read_string(std::string_view& out);
  bool read_integer(int64_t& out);
  // "[...]" of at most `limit` numbers; `count` says how many.
  bool read_unsigned_list(uint64_t* out, size_t limit, size_t& count);
  bool read_integer_list(int64_t* out, size_t limit, size_t& count);
  // "[...]" of decimal strings, each a uint64; or one such string.
  bool read_id64_list(int64_t* out, size_t limit, size_t& count);
  bool read_id64(int64_t& out);

  // Any one value, checked: nesting to 64, strings, numbers and words well-formed.
  bool skip_value();
  // A list of numbers or plain strings by its closing bracket alone. What is inside is checked when
  // it is read.
  bool skip_list();

 private:
  bool read_magnitude(uint64_t& out);
  bool skip_number();
  bool skip_word(std::string_view word);
  template <typename T>
  struct NumberReader;
  template <typename T, typename ReadOne>
  bool read_list(T* out, size_t limit, size_t& count, ReadOne read_one);
  size_t read_short_values(uint64_t* out, size_t limit);

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* reason_ = nullptr;
  size_t failed_at_ = 0;
};

}  // namespace gpufl::format
