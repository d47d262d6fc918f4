// SPDX-License-Identifier: Apache-2.0
// A program outside the project: uses each part of the API once and checks that a session came of
// it. The argument is the folder for the log.

#include <gpufl/gpufl.hpp>

#include <cstdio>
#include <filesystem>

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const std::filesystem::path logs = argv[1];
  std::filesystem::remove_all(logs);

  gpufl::InitOptions options;
  options.app_name = "consumer";
  options.log_path = logs.string();
  options.backend = gpufl::BackendKind::None;
  if (!gpufl::init(options)) {
    std::fprintf(stderr, "init failed\n");
    return 1;
  }
  int iterations = 0;
  GFL_SCOPE("outer", "tag") {
    gpufl::ScopedMonitor inner("inner");
    gpufl::counter("work").add(2);
    GFL_BENCH("loop", gpufl::ScopeMeta{}.setRepeat(3).setWarmup(1)) { ++iterations; };
  }
  const int answer = gpufl::monitor("answer", [] { return 42; });
  gpufl::shutdown();

  int sessions = 0;
  for (const auto& entry : std::filesystem::directory_iterator(logs)) {
    sessions += entry.is_directory() ? 1 : 0;
  }
  if (iterations != 4 || answer != 42 || sessions != 1) {
    std::fprintf(stderr, "%d iterations, answer %d, %d sessions\n", iterations, answer, sessions);
    return 1;
  }
  return 0;
}
