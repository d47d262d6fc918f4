// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/live_view.hpp"

// The terminal while a live view is on it: alternate screen, no cursor, keys unbuffered and not
// echoed. Everything is put back on destruction. One thread.
namespace gpufl::cli {

// Standard output and input are one terminal that understands escape codes, and we are in its
// foreground.
bool terminal_is_usable();
// A terminal on that descriptor, and the user has not said NO_COLOR.
bool terminal_has_color(int fd = STDOUT_FILENO);
// Columns for a report there: the terminal's, from 60 to 140, else 100.
size_t page_width(int fd = STDOUT_FILENO);

class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  ScreenSize size() const;
  void draw(const std::vector<std::string>& lines) const;
  // The next key that has been pressed; none when none waits.
  std::optional<char> read_key() const;

 private:
  termios before_;
};

}  // namespace gpufl::cli
