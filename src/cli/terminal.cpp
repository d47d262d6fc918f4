// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "report/text_report.hpp"

namespace gpufl::cli {
namespace {

// A terminal that is gone is noticed by its hang-up signal, not here.
void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

bool terminal_is_usable() {
  const char* term = std::getenv("TERM");
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term != nullptr && *term != '\0' &&
         std::string_view(term) != "dumb" && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

bool terminal_has_color(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(fd) && (no_color == nullptr || *no_color == '\0');
}

size_t page_width(int fd) {
  constexpr size_t kMin = 60;
  constexpr size_t kMax = 140;  // longer lines are hard to follow
  winsize window{};
  if (ioctl(fd, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) {
    return report::TextOptions{}.width;
  }
  return std::clamp<size_t>(window.ws_col, kMin, kMax);
}

Terminal::Terminal() {
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  raw.c_cc[VSUSP] = _POSIX_VDISABLE;  // a stopped monitor would leave the shell in this screen
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  write_all("\x1b[?1049h\x1b[?25l");
}

Terminal::~Terminal() {
  write_all("\x1b[?25h\x1b[?1049l");
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

ScreenSize Terminal::size() const {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) {
    return {};
  }
  return {window.ws_col, window.ws_row};
}

void Terminal::draw(const std::vector<std::string>& lines) const {
  std::string frame = "\x1b[H";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) frame += "\r\n";
    frame += lines[i];
    frame += "\x1b[K";
  }
  frame += "\x1b[J";
  write_all(frame);
}

std::optional<char> Terminal::read_key() const {
  char key;
  return ::read(STDIN_FILENO, &key, 1) == 1 ? std::optional(key) : std::nullopt;
}

}  // namespace gpufl::cli
