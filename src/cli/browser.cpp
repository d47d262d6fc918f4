// SPDX-License-Identifier: Apache-2.0
#include "cli/browser.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include <fmt/format.h>

namespace gpufl::cli {
namespace {

bool has_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// Addresses of ours have no quotes or angle brackets, so the page needs no escapes.
bool write_page(const std::string& file, const std::string& address) {
  ::unlink(file.c_str());
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  const std::string page = fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={0}\">"
      "<title>GPUFlight</title><a href=\"{0}\">GPUFlight</a>\n",
      address);
  const bool is_written =
      ::write(fd, page.data(), page.size()) == static_cast<ssize_t>(page.size());
  ::close(fd);
  return is_written;
}

}  // namespace

bool is_over_ssh() { return has_variable("SSH_CONNECTION") || has_variable("SSH_TTY"); }

bool open_in_browser(const std::string& address, const std::filesystem::path& folder) {
  if (!has_variable("DISPLAY") && !has_variable("WAYLAND_DISPLAY")) return false;
  const std::string file = (folder / "open.html").string();
  if (!write_page(file, address)) return false;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  // Not of our group: Ctrl-C here does not end a browser that it starts.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  // A browser would keep the server's port for as long as it runs.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  std::string program = "xdg-open", argument = file;
  std::array<char*, 3> words = {program.data(), argument.data(), nullptr};
  pid_t pid = 0;
  const int error =
      ::posix_spawnp(&pid, program.c_str(), &actions, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error == 0;
}

std::string ssh_line(uint16_t port) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return {};
  return fmt::format("ssh -L {0}:127.0.0.1:{0} {1}", port, host.data());
}

}  // namespace gpufl::cli
