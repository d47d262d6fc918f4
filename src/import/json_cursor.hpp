// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// A pull parser over a piece of JSON text that may end anywhere: when it does, the state is Starved
// and the caller begins again with more. Keeps nothing of what it passes. Strings that have no
// escapes are views of the text. One thread; about 400 MB/s.
namespace gpufl::importing {

class JsonCursor {
 public:
  enum class State : uint8_t { Good, Starved, Wrong };

  explicit JsonCursor(std::string_view text)
      : at_(text.data()), begin_(text.data()), end_(text.data() + text.size()) {}

  State state() const { return state_; }
  bool is_good() const { return state_ == State::Good; }
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }

  // The next character that is no white space; '\0' where there is none.
  char peek();
  // Whether that is `c`, and then passes it. `expect`: Wrong if it is not.
  bool take(char c);
  bool expect(char c);

  // A string; with escapes it is in `scratch`.
  std::string_view string(std::string& scratch);
  // A number as it stands; true, false and null too.
  std::string_view scalar();
  // Passes a value of any kind, nested up to 64 deep.
  void skip();

  // Calls `member(key)` for each member of an object; it must take or skip the value.
  template <typename Member>
  void object(std::string& scratch, Member member) {
    if (!expect('{') || take('}')) return;
    do {
      const std::string_view key = string(scratch);
      if (!expect(':')) return;
      member(key);
    } while (is_good() && take(','));
    if (is_good()) expect('}');
  }

 private:
  void fail(State state) {
    if (is_good()) state_ = state;
  }
  void skip_string();
  std::string_view unescape(const char* from, std::string& scratch);
  bool append_escape(const char*& at, std::string& out);

  const char* at_;
  const char* begin_;
  const char* end_;
  State state_ = State::Good;
};

// Whole numbers; nothing for what has a fraction or does not fit.
std::optional<int64_t> to_integer(std::string_view text);
// Microseconds as decimals to whole nanoseconds, exactly where there are at most three digits
// behind the point, else rounded. Never through a floating-point number.
std::optional<int64_t> to_nanoseconds(std::string_view microseconds);

}  // namespace gpufl::importing
