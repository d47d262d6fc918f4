// SPDX-License-Identifier: Apache-2.0
// `scope_program FOLDER SCOPES`: records scopes that end at irregular times, for live_bench.py.
// Says when each has ended, on the monotonic clock in nanoseconds, a line each; ends with its
// input.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <random>
#include <string_view>
#include <thread>

#include <gpufl/gpufl.hpp>

#include "base/clock.hpp"

int main(int argc, char** argv) {
  int scopes = 0;
  const std::string_view count = argc == 3 ? argv[2] : "";
  std::from_chars(count.data(), count.data() + count.size(), scopes);
  if (scopes <= 0) {
    std::fputs("usage: scope_program FOLDER SCOPES\n", stderr);
    return 64;
  }
  gpufl::InitOptions options;
  options.app_name = "scope_program";
  options.log_path = argv[1];
  options.backend = gpufl::BackendKind::None;
  if (!gpufl::init(options)) return 1;
  std::mt19937 random(1);
  for (int i = 0; i < scopes; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200 + random() % 800));
    GFL_SCOPE("step") { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
    std::printf("%lld\n", static_cast<long long>(gpufl::base::monotonic_ns()));
    std::fflush(stdout);
  }
  std::getchar();
  gpufl::shutdown();
  return 0;
}
