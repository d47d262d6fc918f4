// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

// A libcupti that can tell its version, and nothing else: what `gpufl doctor` asks of one.
extern "C" __attribute__((visibility("default"))) int cuptiGetVersion(uint32_t* version) {
  *version = 130001;
  return 0;
}
