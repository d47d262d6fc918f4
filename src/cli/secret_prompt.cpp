// SPDX-License-Identifier: Apache-2.0
#include "cli/secret_prompt.hpp"

#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "cli/print.hpp"

namespace gpufl::cli {
namespace {

constexpr size_t kLongest = 4096;

// What is typed is not shown while it lives.
class HiddenInput {
 public:
  HiddenInput() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios hidden = before_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    is_hidden_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0;
  }
  ~HiddenInput() {
    if (is_hidden_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  HiddenInput(const HiddenInput&) = delete;
  HiddenInput& operator=(const HiddenInput&) = delete;

 private:
  termios before_{};
  bool is_hidden_ = false;
};

}  // namespace

std::string read_secret_line() {
  std::string line;
  char byte;
  while (line.size() < kLongest) {
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || byte == '\n') break;
    line += byte;
  }
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

std::string ask_for_secret(const std::string& question) {
  if (::isatty(STDIN_FILENO) == 0) return {};
  const HiddenInput hidden;  // first: hiding forgets what was typed before
  print_error(question);
  std::string secret = read_secret_line();
  print_error("\n");
  return secret;
}

}  // namespace gpufl::cli
