// SPDX-License-Identifier: Apache-2.0
#include "cli/print.hpp"

#include <poll.h>
#include <unistd.h>

#include <system_error>

#include "text/units.hpp"

namespace gpufl::cli {

bool has_reader() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) != 1 || (output.revents & (POLLERR | POLLHUP)) == 0;
}

void tell_written(const std::filesystem::path& output, std::string_view text) {
  std::error_code error;
  const bool is_on_disk = output != "-" && output != "/dev/stdout" &&
                          (std::filesystem::is_regular_file(output, error) ||
                           std::filesystem::is_directory(output, error));
  is_on_disk ? static_cast<void>(print(text)) : print_error(text);
}

void tell_written(const std::filesystem::path& output, uint64_t bytes) {
  tell_written(output, text::make_harmless(output.string()) + " (" +
                           text::bytes(static_cast<double>(bytes)) + ")\n");
}

}  // namespace gpufl::cli
