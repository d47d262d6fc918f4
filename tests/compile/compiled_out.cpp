// SPDX-License-Identifier: Apache-2.0
// A user's program with the library compiled out: the same source, nothing linked, nothing done
// but what the program itself does.
#include "snippets.hpp"

#include <gpufl/gpufl.hpp>

int main() {
  using namespace gpufl::snippets;
  gpufl::InitOptions options;
  if (gpufl::init(options) || gpufl::status().recording) return 1;
  int iterations = 0, steps = 0, others = 0;
  train_two_batches();
  object_scope();
  benchmark_loop(iterations);
  benchmark_without_repeat(others);
  benchmark_inside_lambda(others);
  best_practices();
  reference_scopes();
  system_phase();
  if (unrecorded_phase()) return 1;
  control_flow(steps);
  counters();
  gpufl::generateReport();
  gpufl::shutdown();
  const bool same_results = lambda_scope() == 42 && iterations == 13 && others == 2 && steps == 6 &&
                            monitor_keeps_types() && gpufl::counter("tokens").value() == 0;
  return same_results ? 0 : 1;
}
