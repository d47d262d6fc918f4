// SPDX-License-Identifier: Apache-2.0
// A library that uses gpufl, as a plugin of a program that does not.
#include <gpufl/gpufl.hpp>
#include <thread>

extern "C" __attribute__((visibility("default"))) int plugin_start() {
  gpufl::InitOptions opts;
  opts.backend = gpufl::BackendKind::None;
  opts.continuous_system_sampling = true;
  return gpufl::init(opts) ? 0 : 1;
}

extern "C" __attribute__((visibility("default"))) void plugin_work() {
  GFL_SCOPE("plugin work") { gpufl::tick("plugin calls"); }
  std::thread([] {
    GFL_SCOPE("plugin thread") {}
  }).join();
}
