// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// One line at the bottom of a terminal that a program is printing to: what the program prints
// scrolls above it. Writes to stderr; does nothing where that is no terminal, or one that we are in
// the background of. One thread.
namespace gpufl::cli {

class StatusLine {
 public:
  explicit StatusLine(bool is_wanted);
  ~StatusLine() { remove(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool is_usable() const { return is_usable_; }
  // Shows `text`, cut to the terminal's width; makes room for it when the terminal's size is new.
  void show(std::string_view text);
  // Gives the line back to the program. show() brings it again.
  void remove();

 private:
  bool is_usable_;
  int rows_ = 0;  // the terminal's, while the line is there; 0: it is not
};

}  // namespace gpufl::cli
