// SPDX-License-Identifier: Apache-2.0
#include "snippets.hpp"

#include <gpufl/gpufl.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpufl::snippets {

namespace {

// What the examples take for granted.
struct Tensor {
  void backward() {}
};
struct Batch {
  Tensor input, target;
};
using DataLoader = std::vector<Batch>;
struct Model {
  Tensor forward(const Tensor& input) { return input; }
};
struct Optimizer {
  void step() {}
};
Tensor criterion(const Tensor& output, const Tensor&) { return output; }
void my_kernel() {}
void synchronize() {}

Model model;
Optimizer optimizer;

void train_epoch(DataLoader& loader) {
  Tensor output, loss;
  for (auto& batch : loader) {
    GFL_SCOPE("batch") {
      GFL_SCOPE("forward_pass") { output = model.forward(batch.input); }

      GFL_SCOPE("loss") { loss = criterion(output, batch.target); }

      GFL_SCOPE("backward_pass") { loss.backward(); }

      GFL_SCOPE("optimizer_step") { optimizer.step(); }
    }
  }
}

}  // namespace

void train_two_batches() {
  DataLoader loader(2);
  train_epoch(loader);
}

void object_scope() {
  {
    gpufl::ScopedMonitor scope("data_loading");
  }
  gpufl::ScopedMonitor tagged("data_loading", "batch_42");
  gpufl::ScopedMonitor counted("data_loading", gpufl::ScopeMeta{}.setRepeat(4));
  gpufl::ScopedMonitor both("data_loading", "batch_43", gpufl::ScopeMeta{}.setWarmup(1));
}

int lambda_scope() {
  Tensor result, input;
  gpufl::monitor("inference", [&]() { result = model.forward(input); });
  return gpufl::monitor("inference", "tagged", [] { return 42; });
}

void benchmark_loop(int& iterations) {
  GFL_BENCH("matmul", gpufl::ScopeMeta{}.setRepeat(10).setWarmup(3)) {
    my_kernel();
    synchronize();
    ++iterations;
    if (iterations > 0) return;  // leaves the iteration, not the function
    iterations = -1000;
  };
}

void benchmark_without_repeat(int& iterations) {
  GFL_BENCH("never", gpufl::ScopeMeta{}) { ++iterations; };
}

void benchmark_inside_lambda(int& iterations) {
  const auto run = [&iterations](const std::string& name) {
    GFL_BENCH(name, gpufl::ScopeMeta{}.setRepeat(2)) { ++iterations; };
  };
  run("from a lambda");
}

void best_practices() {
  GFL_SCOPE("data_preprocessing") {}
  GFL_SCOPE("forward_pass") {}
  GFL_SCOPE("backward_pass") {}
  GFL_SCOPE("checkpoint_save") {}
}

void reference_scopes() {
  GFL_SCOPE("name") { my_kernel(); }
  {
    gpufl::ScopedMonitor scope("name");
  }
  gpufl::monitor("name", [&]() {});
}

void system_phase() {
  gpufl::systemStart("phase_name");
  gpufl::systemStop("phase_name");
  gpufl::systemStart();
  gpufl::systemStop();
}

bool unrecorded_phase() {
  const bool is_paused = gpufl::pause();
  my_kernel();
  const bool is_recorded = gpufl::resume();
  return is_paused && is_recorded;
}

// A scope is one statement and changes nothing of what stands in it.
void control_flow(int& steps) {
  // NOLINTNEXTLINE(readability-braces-around-statements): the braces are what is tested
  if (steps == 0) GFL_SCOPE("then") {
      ++steps;
    }
  else
    GFL_SCOPE("else") { steps = -1000; }

  for (int i = 0; i < 10; ++i) {
    GFL_SCOPE("iteration") {
      if (i == 1) continue;
      if (i == 3) break;
      ++steps;
    }
  }
  GFL_SCOPE("a") GFL_SCOPE("b", "tag") { ++steps; }
  switch (steps) {
    case 4: GFL_SCOPE("case") { ++steps;
      }
      break;
    default: steps = -1000;
  }
  const auto early = [&] {
    GFL_SCOPE("returning") { return 7; }
    return 8;
  };
  if (early() == 7) ++steps;
}

bool monitor_keeps_types() {
  int value = 1;
  const auto reference = [&]() -> int& { return value; };
  const auto nothing = [] {};
  static_assert(std::is_same_v<decltype(monitor("reference", reference)), int&>);
  static_assert(std::is_same_v<decltype(monitor("nothing", nothing)), void>);
  monitor("reference", reference) = 5;
  monitor("nothing", nothing);
  std::unique_ptr<int> moved = monitor("move-only", [] { return std::make_unique<int>(6); });
  auto captured = [owner = std::make_unique<int>(7)]() mutable { return std::move(owner); };
  std::unique_ptr<int> from_state = monitor("mutable", std::move(captured));
  return value == 5 && *moved == 6 && *from_state == 7;
}

void counters() {
  const gpufl::Counter tokens = gpufl::counter("tokens");
  tokens.add(512);
  tokens.add();
  gpufl::tick("tokens", 10);
  gpufl::tick("requests");
}

}  // namespace gpufl::snippets
