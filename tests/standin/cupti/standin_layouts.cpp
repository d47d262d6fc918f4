// SPDX-License-Identifier: Apache-2.0
#include <cupti.h>

#include "tests/standin/cupti/standin_library.hpp"

// How large records are, by the version that is played.
namespace gpufl::standin {

extern uint32_t cupti_version;

size_t record_size(CUpti_ActivityKind kind) {
  const bool is_12_0 = cupti_version < 20;
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return cupti_version < 100'000 ? 208 : cupti_version < 130'100 ? 216 : 224;
    case CUPTI_ACTIVITY_KIND_MEMCPY: return is_12_0 ? 88 : 96;
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return 96;
    case CUPTI_ACTIVITY_KIND_MEMSET: return 88;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return is_12_0 ? 40 : 56;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: return 40;
    case CUPTI_ACTIVITY_KIND_MEMORY2: return is_12_0 ? 120 : 128;
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return 24;
    case CUPTI_ACTIVITY_KIND_OVERHEAD: return is_12_0 ? 40 : 56;
    case CUPTI_ACTIVITY_KIND_DEVICE: return is_12_0 ? 176 : 184;
    case CUPTI_ACTIVITY_KIND_CONTEXT: return is_12_0 ? 16 : cupti_version < 130'100 ? 32 : 40;
    default: return 0;
  }
}

}  // namespace gpufl::standin

using gpufl::standin::record_size;

extern "C" __attribute__((visibility("default"))) CUptiResult
cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  auto* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<uint8_t*>(*record) + record_size((*record)->kind);
  }
  // Also a record that is cut off ends behind the end.
  const auto left = static_cast<size_t>(buffer + valid - next);
  if (left < sizeof(CUpti_Activity) ||
      left < record_size(reinterpret_cast<CUpti_Activity*>(next)->kind)) {
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  }
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
