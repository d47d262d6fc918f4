// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

// Walks over text of /proc: lines, words, decimal numbers. Holds a view only; never allocates.
namespace gpufl::capture {

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : rest_(text) {}

  // The next line without its end; nothing at the end of the text.
  std::optional<std::string_view> line() {
    if (rest_.empty()) return std::nullopt;
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return found;
  }

  // The next run of characters that are not blank; empty at the end.
  std::string_view word() {
    skip_blanks();
    const size_t end = std::min(rest_.find_first_of(" \t\n"), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }

  // The next number; nothing, and no step, where something else stands.
  std::optional<uint64_t> number() {
    skip_blanks();
    size_t length = 0;
    uint64_t value = 0;
    while (length < rest_.size() && rest_[length] >= '0' && rest_[length] <= '9') {
      value = value * 10 + static_cast<uint64_t>(rest_[length++] - '0');
    }
    if (length == 0) return std::nullopt;
    rest_.remove_prefix(length);
    return value;
  }

  bool skip(char expected) {
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size()));
  }

  std::string_view rest_;
};

}  // namespace gpufl::capture
