// SPDX-License-Identifier: Apache-2.0
// `kernel_windows FOLDER KERNELS WINDOW_BYTES`: a session of a training run in windows of as much
// text, for agent_bench.py.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "bench/analysis/kernel_session.hpp"

namespace {

uint64_t number_of(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t kernels = argc == 4 ? number_of(argv[2]) : 0;
  const uint64_t window_bytes = argc == 4 ? number_of(argv[3]) : 0;
  if (kernels == 0 || window_bytes == 0) {
    std::fputs("usage: kernel_windows FOLDER KERNELS WINDOW_BYTES\n", stderr);
    return 64;
  }
  const auto written = gpufl::bench::write_kernel_session(argv[1], kernels, {}, window_bytes);
  if (!written) std::fprintf(stderr, "%s\n", written.text().c_str());
  return written ? 0 : 1;
}
