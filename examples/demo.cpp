// SPDX-License-Identifier: Apache-2.0
// A small "training run" on the CPU: nested scopes, a counter, and system metrics while it works.
// Needs no GPU; where there is one, its health is sampled too.

#include <gpufl/gpufl.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kEpochs = 3;
constexpr int kBatchesPerEpoch = 8;
constexpr int kTokensPerBatch = 512;
constexpr int kHeads = 2;

// Stands for a kernel: keeps one core busy for about `size` * `size` multiplications.
double multiply(int size) {
  double sum = 0;
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) sum += std::sin(row) * std::cos(column);
  }
  return sum;
}

double forward() {
  GFL_SCOPE("forward_pass") {
    // Each thread has scopes of its own.
    std::vector<double> outputs(kHeads);
    std::vector<std::thread> heads;
    for (int head = 0; head < kHeads; ++head) {
      heads.emplace_back([&outputs, head] {
        gpufl::ScopedMonitor scope("attention", "head_" + std::to_string(head));
        outputs[head] = multiply(1600);
      });
    }
    for (std::thread& head : heads) head.join();
    return outputs[0] + outputs[1];
  }
}

double train() {
  const gpufl::Counter tokens = gpufl::counter("tokens");
  double loss = 0;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    GFL_SCOPE("epoch") {
      for (int batch = 0; batch < kBatchesPerEpoch; ++batch) {
        GFL_SCOPE("batch") {
          loss += forward();
          loss -= gpufl::monitor("backward_pass", [] { return multiply(2300); });
          GFL_SCOPE("optimizer_step") { loss += multiply(600); }
        }
        tokens.add(kTokensPerBatch);
      }
      gpufl::tick("epochs");
    }
  }
  return loss;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    const bool is_question = std::strcmp(argv[1], "-h") == 0 || std::strcmp(argv[1], "--help") == 0;
    std::fprintf(is_question ? stdout : stderr,
                 "gpufl-demo takes no arguments: it records a session into gpufl-logs/demo\n");
    return is_question ? 0 : 64;
  }
  gpufl::InitOptions options;
  options.app_name = "demo";
  options.log_path = "gpufl-logs/demo";
  options.continuous_system_sampling = true;
  options.system_sample_rate_ms = 50;
  if (!gpufl::init(options)) {
    std::fprintf(stderr, "demo: no session; GPUFL_ENABLE_DEBUG_OUTPUT=1 says why\n");
    return 1;
  }

  double loss = train();
  GFL_BENCH("evaluate", gpufl::ScopeMeta{}.setRepeat(10).setWarmup(2)) { loss += multiply(800); };

  gpufl::shutdown();
  gpufl::generateReport();
  // The result is used, so that the compiler keeps the work.
  return std::isfinite(loss) ? 0 : 1;
}
