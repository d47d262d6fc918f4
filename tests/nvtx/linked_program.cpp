// SPDX-License-Identifier: Apache-2.0
// A program that records itself, and whose first call of NVTX comes after init(). Its engine is
// Monitor: markers need no CUPTI. Argument: the folder of the log.
#include <nvtx3/nvToolsExt.h>
#include <gpufl/gpufl.hpp>

extern "C" void run_plugin();

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  gpufl::InitOptions options;
  options.app_name = "linked";
  options.log_path = argv[1];
  options.backend = gpufl::BackendKind::Nvidia;
  if (!gpufl::init(options)) return 1;
  GFL_SCOPE("work") {
    nvtxRangePushA("before the plugin");
    run_plugin();
    nvtxRangePop();
  }
  nvtxMarkA("outside");
  nvtxRangePushA("left open");
  gpufl::shutdown();
  nvtxRangePop();
  return 0;
}
