// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

// What `gpufl doctor` asks of a libcupti. The rest, in standin_records.cpp, needs CUPTI's headers.
namespace gpufl::standin {
uint32_t cupti_version = 130001;
}

// Callers without CUPTI's headers know its result as an int, others as an enumeration.
#ifdef __clang__
__attribute__((no_sanitize("function")))
#endif
extern "C" __attribute__((visibility("default"))) int cuptiGetVersion(uint32_t* version) {
  *version = gpufl::standin::cupti_version;
  return 0;
}
