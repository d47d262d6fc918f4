// SPDX-License-Identifier: Apache-2.0
#include "cli/status_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "cli/print.hpp"
#include "text/display.hpp"

namespace gpufl::cli {
namespace {

constexpr int kFewestRows = 5;

bool terminal_understands() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) && term != nullptr && *term != '\0' &&
         std::string_view(term) != "dumb" && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

// Saves the cursor around: where it is belongs to the program.
std::string at_cursor(const std::string& text) {
  return "\x1b"
         "7" +
         text +
         "\x1b"
         "8";
}

}  // namespace

StatusLine::StatusLine(bool is_wanted) : is_usable_(is_wanted && terminal_understands()) {}

void StatusLine::show(std::string_view text) {
  winsize window{};
  if (!is_usable_ || ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0) return;
  if (window.ws_row < kFewestRows || window.ws_col == 0) return remove();
  std::string out;
  if (window.ws_row != rows_) {
    remove();
    rows_ = window.ws_row;
    // A new line, so that the cursor is not in the last row; then all but that row scroll.
    out += "\n\x1b[1A" + at_cursor(fmt::format("\x1b[1;{}r", rows_ - 1));
  }
  out += at_cursor(
      fmt::format("\x1b[{};1H\x1b[2m{}\x1b[0m\x1b[K", rows_, text::fit(text, window.ws_col)));
  print_error(out);
}

void StatusLine::remove() {
  if (rows_ == 0) return;
  print_error(at_cursor(fmt::format("\x1b[r\x1b[{};1H\x1b[K", rows_)));
  rows_ = 0;
}

}  // namespace gpufl::cli
